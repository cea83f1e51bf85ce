// SPDX-License-Identifier: Apache-2.0

/// The screen of a terminal after it has received bytes.
///
/// It knows the control characters and the sequences that the programs send: cursor up, and erase
/// to the end of the line and of the screen (ECMA-48). Text that exceeds the width wraps.
public struct TerminalScreen {
  /// The rows from the top, without spaces at their end. They include what has scrolled away.
  public var rows: [String] {
    cells.map { row in
      let end = row.lastIndex { $0 != " " } ?? -1
      return String(String.UnicodeScalarView(row[..<(end + 1)]))
    }
  }
  /// How often text has wrapped.
  public private(set) var wraps = 0

  private var cells: [[Unicode.Scalar]] = [[]]
  private var (row, column) = (0, 0)
  private let columns: Int

  public init(_ bytes: [UInt8] = [], columns: Int) {
    self.columns = columns
    add(bytes)
  }

  public mutating func add(_ bytes: [UInt8]) {
    var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n": move(to: row + 1)
      case "\u{1B}":
        guard rest.first == "[" else { continue }
        rest.removeFirst()
        let parameters = rest.prefix { ("0"..."?").contains($0) }
        rest = rest.dropFirst(parameters.count)
        obey(rest.popFirst(), Int(String(String.UnicodeScalarView(parameters))))
      case "\u{0}"..."\u{1F}": break
      default: put(scalar)
      }
    }
  }

  private mutating func obey(_ final: Unicode.Scalar?, _ number: Int?) {
    switch final {
    case "A": row = max(0, row - (number ?? 1))
    case "J":
      cells.removeLast(cells.count - row - 1)
      eraseRest()
    case "K": eraseRest()
    default: break
    }
  }

  private mutating func eraseRest() {
    if cells[row].count > column { cells[row].removeLast(cells[row].count - column) }
  }

  private mutating func move(to row: Int) {
    self.row = row
    while cells.count <= row { cells.append([]) }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    if column == columns {
      wraps += 1
      column = 0
      move(to: row + 1)
    }
    while cells[row].count <= column { cells[row].append(" ") }
    cells[row][column] = scalar
    column += 1
  }
}
