// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// The newest values of one thread, for others: neither side ever waits.
///
/// The writer overwrites the oldest values when a reader is late, because the newest are those that
/// matter. Every value is guarded by a sequence number (a sequence lock): a reader that the writer
/// overtakes drops what it read and goes on with a newer value. All words are atomic: an overtaken
/// read is stale, never undefined. H.-J. Boehm, "Can seqlocks get along with programming language
/// memory models?", MSPC 2012.
///
/// ## Threading
/// `push` is for one thread; `pop` and `latest` are for any. All are real-time safe: the compiler
/// checks it in callers that are `@_noLocks`, where `Value` is known.
@frozen
public struct SequenceRing<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
  /// How many values the ring holds, a power of two.
  public let capacity: Int
  @usableFromInline let blank: Value
  /// Of each slot the sequence number, then the value.
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>

  /// - Parameters:
  ///   - capacity: how many values the ring holds, a power of two.
  ///   - blank: any value. It consists of whole 64-bit words.
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

  /// Frees the memory, which no thread may use any more.
  public func deallocate() {
    words.deallocate()
    written.deallocate()
  }

  @inlinable static var stride: Int { 1 + MemoryLayout<Value>.size / 8 }

  @inlinable
  func slot(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    words + (number & (capacity - 1)) * Self.stride
  }

  /// Adds a value.
  @inlinable
  public func push(_ value: Value) {
    let number = written.pointee.load(ordering: .relaxed)
    let slot = slot(number)
    // Odd while the slot is being written.
    slot[0].store(UInt64(2 * number + 1), ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    var value = value
    Self.copy(&value, to: slot)
    slot[0].store(UInt64(2 * number + 2), ordering: .releasing)
    written.pointee.store(number + 1, ordering: .releasing)
  }

  /// The next value for a reader that has seen `position` values, which advances; nil where there
  /// is none.
  @inlinable
  public func pop(_ position: inout Int) -> Value? {
    var value = blank
    while true {
      let end = written.pointee.load(ordering: .acquiring)
      guard position < end else { return nil }
      // Half a ring of room keeps the writer away while a late reader catches up.
      if end - position > capacity { position = end - capacity / 2 }
      if read(position, into: &value) {
        position += 1
        return value
      }
      position = max(position + 1, end - capacity / 2)
    }
  }

  /// The newest value; nil before the first.
  @inlinable public var latest: Value? {
    while true {
      var position = written.pointee.load(ordering: .acquiring) - 1
      guard position >= 0 else { return nil }
      if let value = pop(&position) { return value }
    }
  }

  /// Overwrites `value`; false, with an undefined value, where the writer was faster.
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
