// SPDX-License-Identifier: Apache-2.0

/// Detects a head that keeps still but does not face the front.
///
/// A listener usually looks straight ahead. If the head seems to face another direction for several
/// seconds, the tracker has probably drifted or the listener has moved, and recentring helps.
package struct RecentreAdvice: Sendable {
  /// There is advice only if the yaw differs from the front by more than this, in degrees.
  static let tolerance = 12.0
  /// The change of the yaw below which the head counts as still, in degrees.
  static let stillness = 6.0
  /// How long the head must keep still before there is advice, in seconds.
  static let patience = 4.0

  private var reference = 0.0
  private var seconds = 0.0

  package init() {}

  /// Adds a pose, `seconds` after the previous one. Returns the advice; nil if there is none.
  ///
  /// - Parameter yaw: the yaw in degrees; nil if there is no current pose.
  package mutating func add(yaw: Double?, seconds: Double) -> String? {
    guard let yaw, abs(yaw) > Self.tolerance, Self.difference(yaw, reference) < Self.stillness
    else {
      (reference, self.seconds) = (yaw ?? 0, 0)
      return nil
    }
    self.seconds += seconds
    guard self.seconds >= Self.patience else { return nil }
    let side = yaw > 0 ? "left" : "right"
    return "\(Int(abs(yaw).rounded())) degrees \(side) of the front: look ahead and press c"
  }

  private static func difference(_ a: Double, _ b: Double) -> Double {
    let turn = abs(a - b)
    return min(turn, 360 - turn)
  }
}
