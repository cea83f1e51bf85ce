// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A coordinate axis with a sign: x, y, z, -x, -y or -z.
public struct SignedAxis: Sendable, Equatable {
  /// The unit vector along the axis.
  public let direction: SIMD3<Double>

  public static let z = SignedAxis(direction: SIMD3(0, 0, 1))

  private init(direction: SIMD3<Double>) {
    self.direction = direction
  }

  /// Parses an axis such as `x` or `-y`. Returns nil if the text is not one of the six axes.
  public init?(_ text: String) {
    guard let axis = Self.all.first(where: { $0.text == text }) else { return nil }
    self = axis
  }

  /// Returns the axis nearest to a direction, and the angle between them in degrees.
  static func nearest(to vector: SIMD3<Double>) -> (axis: SignedAxis, degrees: Double) {
    let unit = vector / vector.length
    let best = all.max { ($0.direction * unit).sum() < ($1.direction * unit).sum() } ?? .z
    return (best, acos(min(1, (best.direction * unit).sum())) * 180 / .pi)
  }

  /// The axis in the form that `init(_:)` parses.
  public var text: String {
    let index = (0..<3).first { direction[$0] != 0 } ?? 2
    return "\(direction[index] < 0 ? "-" : "")\(["x", "y", "z"][index])"
  }

  private static let all: [SignedAxis] = (0..<3).flatMap { index in
    [1.0, -1].map { sign in
      var vector = SIMD3<Double>.zero
      vector[index] = sign
      return SignedAxis(direction: vector)
    }
  }
}
