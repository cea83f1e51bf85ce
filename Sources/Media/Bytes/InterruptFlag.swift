// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A flag that interrupts a reader.
///
/// ## Threading
/// The flag may be raised from any thread and from a signal handler.
public final class InterruptFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  public init() {}

  public func raise() { raised.store(true, ordering: .relaxed) }

  public var isRaised: Bool { raised.load(ordering: .relaxed) }
}
