// SPDX-License-Identifier: Apache-2.0

// These functions on raw samples pass the compiler's real-time check.

/// Copies samples. The ranges may overlap.
@_noLocks
@inlinable
package func copyFrames(
  _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int
) {
  UnsafeMutableRawPointer(to).copyMemory(
    from: from, byteCount: count * MemoryLayout<Float>.stride)
}

@_noLocks
@inlinable
package func addFrames(
  _ from: UnsafePointer<Float>, to sum: UnsafeMutablePointer<Float>, _ count: Int
) {
  for i in 0..<count { sum[i] += from[i] }
}

@_noLocks
@inlinable
package func clearFrames(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
  for i in 0..<count { samples[i] = 0 }
}

@_noLocks
func swapFrames(
  _ a: UnsafeMutablePointer<Float>, _ b: UnsafeMutablePointer<Float>, _ count: Int
) {
  for i in 0..<count { (a[i], b[i]) = (b[i], a[i]) }
}
