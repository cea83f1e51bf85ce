// SPDX-License-Identifier: Apache-2.0

/// Text for man(7).
enum Roff {
  /// `text` with everything escaped that roff would read as its own.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
  }

  static func definition(_ term: String, _ text: String) -> String {
    ".TP\n.B \(escaped(term))\n\(escaped(text))"
  }

  static func lines(_ lines: [String], between separator: String? = nil) -> String {
    lines.joined(separator: separator.map { "\n\($0)\n" } ?? "\n")
  }
}
