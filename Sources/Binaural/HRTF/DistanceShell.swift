// SPDX-License-Identifier: Apache-2.0

/// The measurements at the source distance that has the most measurements; in a tie, at the largest
/// such distance.
///
/// Near-field sets contain the same directions at several distances.
struct DistanceShell {
  /// Indices of the measurements, in the order of the file.
  let indices: [Int]
  /// The mean distance of the measurements, in m.
  let radius: Double
  let notes: [String]

  /// In ascending order, two consecutive distances belong to the same shell if they differ by at
  /// most this fraction.
  private static let tolerance = 0.05

  init(_ positions: [SIMD3<Double>]) {
    let distances = positions.map(\.length)
    let order = distances.indices.sorted { distances[$0] < distances[$1] }
    var shells: [[Int]] = []
    for index in order {
      if let last = shells.last?.last,
        distances[index] <= distances[last] * (1 + Self.tolerance)
      {
        shells[shells.count - 1].append(index)
      } else {
        shells.append([index])
      }
    }
    let largest = shells.map(\.count).max() ?? 0
    indices = (shells.last { $0.count == largest } ?? []).sorted()
    radius = indices.reduce(0) { $0 + distances[$1] } / Double(max(indices.count, 1))
    let from = distances[order.first ?? 0]
    let to = distances[order.last ?? 0]
    notes =
      shells.count < 2
      ? []
      : [
        "the set has measurements at \(shells.count) distances from \(metres(from)) to "
          + "\(metres(to)) m; only the \(indices.count) measurements "
          + "at about \(metres(radius)) m are used"
      ]
  }
}

/// Formats a length in m with two decimal places.
func metres(_ value: Double) -> String { decimal(value, digits: 2) }

/// Formats a number with a fixed number of decimal places. Numbers that are not finite, or whose
/// magnitude is 1e12 or more, have Swift's default format.
package func decimal(_ value: Double, digits: Int) -> String {
  guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
  let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
  let scaled = Int((abs(value) * scale).rounded())
  let (whole, part) = scaled.quotientAndRemainder(dividingBy: Int(scale))
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard digits > 0 else { return "\(sign)\(whole)" }
  let text = "\(part)"
  return "\(sign)\(whole)." + String(repeating: "0", count: digits - text.count) + text
}
