// SPDX-License-Identifier: Apache-2.0

/// Describes the head's angles in words, so that the listener notices an inverted axis at once.
package enum AngleText {
  /// The magnitude below which an angle counts as zero, in degrees.
  static let tolerance = 3.0

  /// Returns text such as "turned left 30", or the short form "left 30".
  package static func yaw(_ degrees: Double, isShort: Bool = false) -> String {
    guard abs(degrees) >= tolerance else { return isShort ? "front" : "faces the front" }
    return (isShort ? "" : "turned ") + side(degrees, "left", "right")
  }

  /// Returns text such as "looking up 10", or the short form "up 10".
  package static func pitch(_ degrees: Double, isShort: Bool = false) -> String {
    guard abs(degrees) >= tolerance else { return "level" }
    return (isShort ? "" : "looking ") + side(degrees, "up", "down")
  }

  /// Returns text such as "right ear down 5", or the short form "right down 5".
  package static func roll(_ degrees: Double, isShort: Bool = false) -> String {
    guard abs(degrees) >= tolerance else { return "upright" }
    let ear = isShort ? "" : "ear "
    return side(degrees, "right \(ear)down", "left \(ear)down")
  }

  private static func side(_ degrees: Double, _ positive: String, _ negative: String) -> String {
    "\(degrees > 0 ? positive : negative) \(Int(abs(degrees).rounded()))"
  }
}
