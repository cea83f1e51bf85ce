// SPDX-License-Identifier: Apache-2.0

/// Sets text in lines of a width.
enum TextColumns {
  /// `text` in lines of at most `width` characters, broken at spaces.
  static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// A term at the left and its explanation in a column at the right.
  static func definition(_ term: String, _ text: String, column: Int = 26, width: Int = 80)
    -> String
  {
    let lines = wrapped(text, width: width - column)
    let margin = String(repeating: " ", count: column)
    let head = "  \(term)"
    let fits = head.count + 2 <= column
    var result = fits ? head + String(repeating: " ", count: column - head.count) : head + "\n"
    for (index, line) in lines.enumerated() {
      result += (index == 0 && fits ? "" : margin) + line + "\n"
    }
    return lines.isEmpty ? head + "\n" : result
  }
}
