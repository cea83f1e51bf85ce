// SPDX-License-Identifier: Apache-2.0

/// Copies of raw samples that pass the compiler's real-time check.
enum Samples {
  /// The ranges may overlap.
  @_noLocks
  static func copy(
    _ source: UnsafePointer<Float>, _ destination: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    UnsafeMutableRawPointer(destination).copyMemory(
      from: source, byteCount: count * MemoryLayout<Float>.stride)
  }

  @_noLocks
  static func swap(
    _ a: UnsafeMutablePointer<Float>, _ b: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    for i in 0..<count {
      let value = a[i]
      a[i] = b[i]
      b[i] = value
    }
  }

  @_noLocks
  static func clear(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
    for i in 0..<count { samples[i] = 0 }
  }
}
