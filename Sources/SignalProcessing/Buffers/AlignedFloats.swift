// SPDX-License-Identifier: Apache-2.0

/// Zeroed float32 memory, aligned to a cache line.
public struct AlignedFloats: ~Copyable, @unchecked Sendable {
  public let pointer: UnsafeMutablePointer<Float>
  public let count: Int

  public init(count: Int) {
    // Allocate 16 more floats, the size of the widest vector: kernels then need no remainder loop.
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: (count + 16) * MemoryLayout<Float>.stride, alignment: 64)
    pointer = raw.bindMemory(to: Float.self, capacity: count + 16)
    pointer.initialize(repeating: 0, count: count + 16)
    self.count = count
  }

  deinit {
    UnsafeMutableRawPointer(pointer).deallocate()
  }

  @_noLocks
  public func clear() {
    for i in 0..<count { pointer[i] = 0 }
  }
}

typealias Vector4 = SIMD4<Float>
typealias Vector8 = SIMD8<Float>

extension UnsafeMutablePointer where Pointee == Float {
  /// The same memory as vectors of four floats. The address must be 16-byte aligned.
  @inline(__always)
  var vectors4: UnsafeMutablePointer<SIMD4<Float>> {
    @_noLocks get {
      UnsafeMutableRawPointer(self).assumingMemoryBound(to: SIMD4<Float>.self)
    }
  }
}
