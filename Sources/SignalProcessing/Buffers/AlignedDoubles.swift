// SPDX-License-Identifier: Apache-2.0

/// Zeroed float64 memory, aligned to a cache line.
public struct AlignedDoubles: ~Copyable, @unchecked Sendable {
  public let pointer: UnsafeMutablePointer<Double>

  public init(count: Int) {
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Double>.stride, alignment: 64)
    pointer = raw.bindMemory(to: Double.self, capacity: count)
    pointer.initialize(repeating: 0, count: count)
  }

  deinit {
    UnsafeMutableRawPointer(pointer).deallocate()
  }
}
