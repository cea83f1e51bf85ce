// SPDX-License-Identifier: Apache-2.0

/// The screen of a terminal after it has received bytes.
///
/// It knows the control characters and the sequences that the programs and ncurses send (ECMA-48,
/// and xterm's alternate screen). Text that exceeds the width wraps.
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
  private var last: Unicode.Scalar = " "
  /// The ordinary screen while the alternate one is shown.
  private var hidden: (cells: [[Unicode.Scalar]], row: Int, column: Int)?

  /// Whether the alternate screen is shown.
  public var isAlternate: Bool { hidden != nil }

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
        guard let kind = rest.popFirst() else { return }
        // The choice of a character set has one more character.
        if "()*+".unicodeScalars.contains(kind) { _ = rest.popFirst() }
        guard kind == "[" else { continue }
        let parameters = rest.prefix { ("0"..."?").contains($0) }
        rest = rest.dropFirst(parameters.count)
        obey(rest.popFirst(), String(String.UnicodeScalarView(parameters)))
      case "\u{8}": column = max(0, column - 1)
      case "\u{0}"..."\u{1F}": break
      default: put(scalar)
      }
    }
  }

  private mutating func obey(_ final: Unicode.Scalar?, _ text: String) {
    if text == "?1049" { return showAlternate(final == "h") }
    let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    let number = numbers.first ?? nil
    let count = number ?? 1
    switch final {
    case "A": row = max(0, row - count)
    case "B": move(to: row + count)
    case "C": column += count
    case "D": column = max(0, column - count)
    case "G": column = count - 1
    case "d": move(to: count - 1)
    case "H":
      move(to: count - 1)
      column = (numbers.dropFirst().first ?? nil).map { $0 - 1 } ?? 0
    case "J":
      if number == 2 {
        for index in cells.indices { cells[index] = [] }
      } else {
        cells.removeLast(cells.count - row - 1)
        eraseRest()
      }
    case "K": number == 1 ? blank(0..<column + 1) : eraseRest()
    case "X": blank(column..<column + count)
    case "P": cells[row].removeSubrange(bounded(column..<column + count))
    case "@":
      cells[row].insert(
        contentsOf: Array(repeating: " ", count: count), at: min(column, cells[row].count))
    case "b": for _ in 0..<count { put(last) }
    default: break
    }
  }

  private mutating func showAlternate(_ isShown: Bool) {
    if isShown, hidden == nil {
      hidden = (cells, row, column)
      (cells, row, column) = ([[]], 0, 0)
    } else if !isShown, let ordinary = hidden {
      (cells, row, column) = ordinary
      hidden = nil
    }
  }

  private func bounded(_ range: Range<Int>) -> Range<Int> {
    range.clamped(to: 0..<cells[row].count)
  }

  private mutating func blank(_ range: Range<Int>) {
    for column in bounded(range) { cells[row][column] = " " }
  }

  private mutating func eraseRest() {
    if cells[row].count > column { cells[row].removeLast(cells[row].count - column) }
  }

  private mutating func move(to row: Int) {
    self.row = row
    while cells.count <= row { cells.append([]) }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    last = scalar
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
