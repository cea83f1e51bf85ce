// SPDX-License-Identifier: Apache-2.0

/// The meaning of a piece of text, which determines its colour and other attributes on a terminal.
package enum CellStyle: UInt8, Sendable, CaseIterable {
  case plain
  /// Text that is less important than the text around it.
  case faint
  case strong
  /// The head.
  case head
  /// A source or a loudspeaker.
  case source
  case good
  case warning
  case alarm
  /// A message that the listener must not overlook.
  case message
}

/// One column of one row of a canvas.
package struct Cell: Equatable, Sendable {
  /// The character; nil if the cell is the right half of a character that is two columns wide.
  package var scalar: Unicode.Scalar?
  package var style: CellStyle

  package static let empty = Cell(scalar: " ", style: .plain)
}

/// A rectangle of characters. Text that exceeds it is cut off.
package struct Canvas: Equatable, Sendable {
  package let columns: Int
  package let rows: Int
  /// The cells, row by row.
  package private(set) var cells: [Cell]

  package init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (max(0, columns), max(0, rows))
    cells = Array(repeating: .empty, count: self.columns * self.rows)
  }

  package subscript(row: Int, column: Int) -> Cell { cells[row * columns + column] }

  /// Writes text that begins at `row` and `column`. Leaves out characters of width 0, and text
  /// beyond `limit` columns or the canvas.
  package mutating func put(
    _ text: String, row: Int, column: Int, style: CellStyle = .plain, limit: Int = .max
  ) {
    guard row >= 0, row < rows else { return }
    var place = column
    let end = min(columns, limit == .max ? columns : column + limit)
    for scalar in text.unicodeScalars {
      let width = TextWidth.of(scalar)
      guard width > 0 else { continue }
      guard place + width <= end else { return }
      if place >= 0 {
        cells[row * columns + place] = Cell(scalar: scalar, style: style)
        if width == 2 { cells[row * columns + place + 1] = Cell(scalar: nil, style: style) }
      }
      place += width
    }
  }

  /// Writes text centred on a column, but shifts the text as far as necessary to fit the canvas.
  package mutating func put(
    _ text: String, row: Int, around column: Int, style: CellStyle = .plain
  ) {
    let width = TextWidth.of(text)
    let start = max(0, min(columns - width, column - (width - 1) / 2))
    put(text, row: row, column: start, style: style)
  }

  /// Returns whether the `width` cells that begin at a position are all in the canvas and contain
  /// only spaces or characters of `except`.
  func isFree(row: Int, column: Int, width: Int, except: String) -> Bool {
    guard row >= 0, row < rows, column >= 0, column + width <= columns else { return false }
    return (column..<column + width).allSatisfy { column in
      guard let scalar = self[row, column].scalar else { return false }
      return scalar == " " || except.unicodeScalars.contains(scalar)
    }
  }

  /// Copies another canvas to a position.
  package mutating func put(_ other: Canvas, row: Int, column: Int) {
    for y in 0..<other.rows where y + row >= 0 && y + row < rows {
      for x in 0..<other.columns where x + column >= 0 && x + column < columns {
        cells[(y + row) * columns + x + column] = other[y, x]
      }
    }
  }

  /// The text of each row, without spaces at its end.
  package var text: [String] {
    (0..<rows).map { row in
      var line = String.UnicodeScalarView()
      for column in 0..<columns { if let scalar = self[row, column].scalar { line.append(scalar) } }
      while line.last == " " { line.removeLast() }
      return String(line)
    }
  }

  /// Replaces each character outside ASCII with "?", for terminals that cannot show it.
  package mutating func reduceToASCII() {
    for index in cells.indices {
      guard let scalar = cells[index].scalar else {
        cells[index].scalar = " "
        continue
      }
      if !scalar.isASCII { cells[index].scalar = "?" }
    }
  }
}
