// SPDX-License-Identifier: Apache-2.0

/// Formats a number with a fixed number of decimals, 0 to 9. Uses Swift's standard format if the
/// number is not finite or its magnitude is 9e9 or more.
package func decimal(_ value: Double, _ decimals: Int) -> String {
  guard value.isFinite, abs(value) < 9e9 else { return "\(value)" }
  let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
  let units = Int((abs(value) * Double(scale)).rounded())
  let sign = value < 0 && units > 0 ? "-" : ""
  guard decimals > 0 else { return "\(sign)\(units)" }
  let fraction = String(units % scale)
  return "\(sign)\(units / scale)."
    + String(repeating: "0", count: decimals - fraction.count) + fraction
}

extension String {
  /// Returns the text left-aligned in a field of at least `width` characters.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// Returns the text right-aligned in a field of at least `width` characters.
  package func rightAligned(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  /// The text with spaces in place of control characters, format characters and line breaks.
  package var withoutControls: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: " "
          default: scalar
          }
        }))
  }
}
