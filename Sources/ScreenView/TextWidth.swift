// SPDX-License-Identifier: Apache-2.0

/// The width of text on a terminal.
package enum TextWidth {
  /// Returns the number of columns that a terminal uses for a text.
  package static func of(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  /// Returns as much of the beginning of a text as fits into `width` columns.
  package static func prefix(_ text: String, _ width: Int) -> String {
    var kept = String.UnicodeScalarView()
    var used = 0
    for scalar in text.unicodeScalars {
      used += of(scalar)
      if used > width { break }
      kept.append(scalar)
    }
    return String(kept)
  }

  /// Returns a text in lines of at most `width` columns, divided at spaces. A longer word is not
  /// divided.
  ///
  /// - Parameter indent: the number of spaces at the beginning of every line but the first; ignored
  ///   if it is at least half of `width`.
  package static func wrapped(_ text: String, _ width: Int, indent: Int = 0) -> [String] {
    guard of(text) > width else { return [text] }
    let margin = String(repeating: " ", count: 2 * indent < width ? indent : 0)
    var lines: [String] = []
    var line: String?
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if let begun = line, of(begun) + 1 + of(word) > width {
        lines.append(begun)
        line = margin + word
      } else {
        line = line.map { "\($0) \(word)" } ?? String(word)
      }
    }
    return lines + [line ?? ""]
  }

  /// Returns the number of columns of one scalar.
  ///
  /// Most East Asian wide characters and pictographs take two columns (Unicode Standard Annex 11).
  /// Characters below U+0020 take none. From U+0300 on, format characters and marks drawn over the
  /// previous character also take none. All others take one.
  package static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return scalar.value < 0x20 ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
