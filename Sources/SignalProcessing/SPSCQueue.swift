// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// A queue of small plain values (events, commands) from one thread to another.
///
/// ## Threading
/// One thread at a time may push, another may pop; both are wait-free and allocate nothing. The
/// compiler's real-time check refuses an attribute here, where `Element` is not known, and follows
/// the calls from a `@_noLocks` function instead, where it is.
public final class SPSCQueue<Element: BitwiseCopyable>: @unchecked Sendable {
  /// The number of values it holds at most.
  public let capacity: Int

  @usableFromInline let memory: UnsafeMutableRawPointer
  /// Values pushed and popped since the beginning, 128 bytes apart.
  @usableFromInline let pushed: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let popped: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let values: UnsafeMutablePointer<Element>

  /// - Parameter capacity: 1 or more.
  public init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    memory = .allocate(byteCount: 256, alignment: 128)
    pushed = memory.bindMemory(to: Atomic<Int>.self, capacity: 1)
    popped = (memory + 128).bindMemory(to: Atomic<Int>.self, capacity: 1)
    pushed.initialize(to: Atomic(0))
    popped.initialize(to: Atomic(0))
    values = .allocate(capacity: capacity)
  }

  deinit {
    memory.deallocate()
    values.deallocate()
  }

  /// Producer: appends a value; false, and nothing done, when the queue is full.
  @inlinable
  @discardableResult
  public func push(_ value: Element) -> Bool {
    let end = pushed.pointee.load(ordering: .relaxed)
    guard end - popped.pointee.load(ordering: .acquiring) < capacity else { return false }
    (values + end % capacity).initialize(to: value)
    pushed.pointee.store(end + 1, ordering: .releasing)
    return true
  }

  /// Consumer: takes the oldest value, or nil when there is none.
  @inlinable
  public func pop() -> Element? {
    let begin = popped.pointee.load(ordering: .relaxed)
    guard pushed.pointee.load(ordering: .acquiring) > begin else { return nil }
    let value = values[begin % capacity]
    popped.pointee.store(begin + 1, ordering: .releasing)
    return value
  }
}
