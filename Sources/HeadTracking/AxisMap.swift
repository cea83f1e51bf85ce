// SPDX-License-Identifier: Apache-2.0

/// The mounting of a tracker on the head: the tracker axes that point to the head's front, left and
/// top.
///
/// A map preserves handedness, so it can be applied to rotation vectors as well as directions.
public struct AxisMap: Sendable, Equatable {
  let columns: SIMD3<Int>
  let signs: SIMD3<Double>

  /// Tracker axes x right, y front, z up (Android head tracker protocol).
  public static let rightFrontUp = AxisMap(columns: SIMD3(1, 0, 2), signs: SIMD3(1, -1, 1))
  /// Tracker axes x front, y left, z up: the identity.
  public static let frontLeftUp = AxisMap(columns: SIMD3(0, 1, 2), signs: SIMD3(1, 1, 1))
  /// Tracker axes x right, y up, z back.
  package static let rightUpBack = AxisMap(columns: SIMD3(2, 0, 1), signs: SIMD3(-1, -1, 1))
  /// Tracker axes x left, y front, z down.
  package static let leftFrontDown = AxisMap(columns: SIMD3(1, 0, 2), signs: SIMD3(1, 1, -1))

  init(columns: SIMD3<Int>, signs: SIMD3<Double>) {
    self.columns = columns
    self.signs = signs
  }

  /// Parses the signed tracker axes that point to the head's front, left and top, such as `y,-x,z`.
  ///
  /// - Throws: `badAxisMap` unless the text names three axes that form a right-handed set.
  public init(_ text: String) throws(HeadTrackingError) {
    var columns = SIMD3(0, 0, 0)
    var signs = SIMD3<Double>(1, 1, 1)
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .badAxisMap(text) }
    for (index, part) in parts.enumerated() {
      var name = part.filter { $0 != " " }.lowercased()[...]
      if let sign = name.first, sign == "-" || sign == "+" {
        signs[index] = sign == "-" ? -1 : 1
        name = name.dropFirst()
      }
      guard let column = ["x", "y", "z"].firstIndex(of: String(name)) else {
        throw .badAxisMap(text)
      }
      columns[index] = column
    }
    self.columns = columns
    self.signs = signs
    guard determinant == 1 else { throw .badAxisMap(text) }
  }

  /// Converts a vector from the tracker's axes to the head's axes.
  public func apply(_ v: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(v[columns.x], v[columns.y], v[columns.z]) * signs
  }

  private var determinant: Int {
    guard Set([columns.x, columns.y, columns.z]).count == 3 else { return 0 }
    let swaps = (columns.y - columns.x) * (columns.z - columns.x) * (columns.z - columns.y) / 2
    return swaps * Int(signs.x * signs.y * signs.z)
  }
}
