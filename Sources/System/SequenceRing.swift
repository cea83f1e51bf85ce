// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// Passes the newest values of one thread to other threads without blocking.
///
/// The writer overwrites the oldest values. A sequence number guards each value: a reader whose
/// value was overwritten continues with a newer one [H.-J. Boehm, "Can seqlocks get along with
/// programming language memory models?", MSPC 2012].
///
/// ## Threading
/// One thread may call `push`. Any thread may call `pop` and `latest`. All three are real-time
/// safe.
@frozen
public struct SequenceRing<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
  /// The number of values in the ring, a power of two.
  public let capacity: Int
  @usableFromInline let blank: Value
  /// The slots. Each contains a sequence number, then the words of a value.
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>

  /// Allocates a ring.
  ///
  /// - Parameters:
  ///   - capacity: the number of values, a power of two, at least 2.
  ///   - blank: any value; the size of its type must be a multiple of 64 bits.
  public init(capacity: Int = 2, blank: Value) {
    precondition(capacity > 1 && capacity & (capacity - 1) == 0)
    precondition(MemoryLayout<Value>.size % 8 == 0)
    self.capacity = capacity
    self.blank = blank
    let count = capacity * Self.stride
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
    written = .allocate(capacity: 1)
    written.initialize(to: Atomic(0))
  }

  /// Frees the memory. No thread may use the ring afterwards.
  public func deallocate() {
    words.deallocate()
    written.deallocate()
  }

  @inlinable static var stride: Int { 1 + MemoryLayout<Value>.size / 8 }

  @inlinable
  func slot(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    words + (number & (capacity - 1)) * Self.stride
  }

  /// Adds a value, which may overwrite the oldest one.
  @inlinable
  public func push(_ value: Value) {
    let number = written.pointee.load(ordering: .relaxed)
    let slot = slot(number)
    // The number is odd while the slot is being written.
    slot[0].store(UInt64(2 * number + 1), ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    var value = value
    Self.copy(&value, to: slot)
    slot[0].store(UInt64(2 * number + 2), ordering: .releasing)
    written.pointee.store(number + 1, ordering: .releasing)
  }

  /// Returns the value at `position` (0 for the first push) and advances `position`. Returns nil if
  /// that value has not been pushed yet.
  ///
  /// If the value was overwritten, a later one is returned.
  @inlinable
  public func pop(_ position: inout Int) -> Value? {
    var value = blank
    while true {
      let end = written.pointee.load(ordering: .acquiring)
      guard position < end else { return nil }
      // Keep a late reader away from the slots that the writer overwrites next.
      if end - position > capacity { position = end - capacity / 2 }
      if read(position, into: &value) {
        position += 1
        return value
      }
      position = max(position + 1, end - capacity / 2)
    }
  }

  /// The newest value; nil before the first push.
  @inlinable public var latest: Value? {
    while true {
      var position = written.pointee.load(ordering: .acquiring) - 1
      guard position >= 0 else { return nil }
      if let value = pop(&position) { return value }
    }
  }

  /// Reads the value at position `number`. Returns false if the writer has begun to overwrite it;
  /// `value` is then undefined.
  @inlinable
  func read(_ number: Int, into value: inout Value) -> Bool {
    let slot = slot(number)
    let mark = UInt64(2 * number + 2)
    guard slot[0].load(ordering: .acquiring) == mark else { return false }
    Self.copy(slot, to: &value)
    atomicMemoryFence(ordering: .acquiring)
    return slot[0].load(ordering: .relaxed) == mark
  }

  @inlinable
  static func copy(_ memory: UnsafeRawPointer, to slot: UnsafeMutablePointer<Atomic<UInt64>>) {
    for index in 1..<stride {
      let word = memory.loadUnaligned(fromByteOffset: 8 * (index - 1), as: UInt64.self)
      slot[index].store(word, ordering: .relaxed)
    }
  }

  @inlinable
  static func copy(
    _ slot: UnsafeMutablePointer<Atomic<UInt64>>, to memory: UnsafeMutableRawPointer
  ) {
    for index in 1..<stride {
      let word = slot[index].load(ordering: .relaxed)
      memory.storeBytes(of: word, toByteOffset: 8 * (index - 1), as: UInt64.self)
    }
  }
}
