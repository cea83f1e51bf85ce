// SPDX-License-Identifier: Apache-2.0

/// Receives the progress of a long operation and can end the operation early.
public struct TaskMonitor: Sendable {
  private let report: @Sendable (Double) -> Bool

  /// Creates a monitor.
  ///
  /// - Parameter report: receives the completed fraction, 0 to 1, and returns whether to go on. It
  ///   may be called on any thread.
  public init(_ report: @escaping @Sendable (Double) -> Bool) { self.report = report }

  /// Reports the completed fraction, 0 to 1. Returns false if the operation must end.
  public func goesOn(_ fraction: Double) -> Bool { report(fraction) }

  /// A monitor that ignores the progress and never ends the operation.
  public static let none = TaskMonitor { _ in true }
}
