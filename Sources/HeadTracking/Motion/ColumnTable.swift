// SPDX-License-Identifier: Apache-2.0

package import System

/// A table of numbers from CSV text, with columns found by name.
///
/// The first line that is not blank contains the names, in upper or lower case. Columns that are
/// not wanted, blank lines, quotes around a cell and a byte order mark are ignored.
package struct ColumnTable {
  /// The columns to look for.
  package struct Wanted {
    /// Columns that the file must have.
    let required: [String]
    /// Groups of columns. A group is read if all its columns are present.
    let optional: [[String]]
    /// Columns in which missing and empty cells become NaN, and in which numbers need not be
    /// finite.
    let gaps: Set<String>

    package init(required: [String], optional: [[String]] = [], gaps: Set<String> = []) {
      (self.required, self.optional, self.gaps) = (required, optional, gaps)
    }
  }

  /// The columns that were found: first the required columns, then the columns of complete groups.
  private(set) var columns: [String] = []
  /// The line number of each row, from 1.
  private(set) var lines: [Int] = []
  /// The values, row after row.
  private var cells: [Double] = []
  private var places: [Int] = []
  private let name: String
  private let wanted: Wanted
  private var line = 0
  /// The start of a line whose end has not been read yet.
  private var unfinished: [UInt8] = []

  static let maximumRows = 5_000_000
  /// The maximum number of lines, including blank lines.
  static let maximumLines = 10_000_000
  static let maximumLineBytes = 1 << 20

  /// Parses the text of a file.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - name: the name of the file in error messages.
  ///   - wanted: the columns to look for.
  ///
  /// - Throws: `cannotReadMotion` if there are no rows, or too many rows or lines; `badMotionRow`
  ///   if a line is invalid, or if an unfinished last line is too long.
  package init(_ bytes: [UInt8], name: String, _ wanted: Wanted) throws(HeadTrackingError) {
    self.init(name: name, wanted)
    try add(bytes[...])
    try end()
  }

  /// Reads and parses a file, plain or compressed with gzip.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - wanted: the columns to look for.
  ///   - monitor: receives the fraction of the file that has been read.
  ///
  /// - Throws: `cannotReadMotion` if the file cannot be read, has no rows, or is too large;
  ///   `badMotionRow` if a line is invalid or too long; `interrupted` if the monitor ended the
  ///   reading.
  package init(
    path: String, _ wanted: Wanted, monitor: TaskMonitor = .none
  ) throws(HeadTrackingError) {
    self.init(name: path, wanted)
    try TextFile.read(path, monitor: monitor) { (part) throws(HeadTrackingError) in
      try add(part)
    }
    try end()
  }

  private init(name: String, _ wanted: Wanted) {
    (self.name, self.wanted) = (name, wanted)
  }

  /// Parses the complete lines, and keeps an unfinished line for the next part.
  private mutating func add(_ part: ArraySlice<UInt8>) throws(HeadTrackingError) {
    var start = part.startIndex
    while let end = part[start...].firstIndex(of: 0x0A) {
      if unfinished.isEmpty {
        try readLine(part[start..<end])
      } else {
        let whole = unfinished + part[start..<end]
        unfinished.removeAll(keepingCapacity: true)
        try readLine(whole[...])
      }
      start = end + 1
    }
    unfinished += part[start...]
    guard unfinished.count <= Self.maximumLineBytes else {
      throw .badMotionRow(
        path: name, line: line + 1,
        reason: "the line is longer than \(Self.maximumLineBytes) bytes, which is the limit")
    }
  }

  /// Parses the last line if it has no line feed, and checks that there are rows.
  private mutating func end() throws(HeadTrackingError) {
    if !unfinished.isEmpty { try readLine(unfinished[...]) }
    unfinished = []
    guard !lines.isEmpty else {
      let reason = columns.isEmpty ? "it is empty or blank" : "it has a header but no rows"
      throw .cannotReadMotion(path: name, reason: reason)
    }
  }

  package var rowCount: Int { lines.count }

  /// Returns the index of a column in each row; nil if the table does not have the column.
  package func place(of column: String) -> Int? { columns.firstIndex(of: column) }

  /// Returns the numbers of one row, in the order of `columns`.
  package func row(_ index: Int) -> ArraySlice<Double> {
    cells[(index * columns.count)..<((index + 1) * columns.count)]
  }

  /// Returns an error about a row, with its line number.
  package func error(row: Int, _ reason: String) -> HeadTrackingError {
    .badMotionRow(path: name, line: lines[row], reason: reason)
  }

  // MARK: Reading

  private mutating func readLine(_ bytes: ArraySlice<UInt8>) throws(HeadTrackingError) {
    line += 1
    guard line <= Self.maximumLines else {
      throw .cannotReadMotion(
        path: name, reason: "it has more than \(Self.maximumLines) lines, which is the limit")
    }
    let hasMark = line == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF])
    try read(hasMark ? bytes.dropFirst(3) : bytes, line)
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(HeadTrackingError) {
    let parts = bytes.split(separator: 0x2C, omittingEmptySubsequences: false)
    if parts.count == 1, Self.trimmed(parts[0]).isEmpty { return }
    if columns.isEmpty {
      try readHeader(parts.map { Self.text($0).lowercased() }, line)
    } else {
      try readRow(parts, line)
    }
  }

  private mutating func readHeader(_ names: [String], _ line: Int) throws(HeadTrackingError) {
    let groups = wanted.optional.filter { $0.allSatisfy(names.contains) }
    for column in wanted.required + groups.flatMap(\.self) {
      let found = names.indices.filter { names[$0] == column }
      guard found.count == 1 else {
        let what = found.isEmpty ? "has no column" : "has more than one column"
        let all = wanted.required.joined(separator: ",")
        throw .badMotionRow(
          path: name, line: line,
          reason: "the header \(what) '\(column)'; it must name \(all) exactly once")
      }
      columns.append(column)
      places.append(found[0])
    }
  }

  private mutating func readRow(
    _ parts: [ArraySlice<UInt8>], _ line: Int
  ) throws(HeadTrackingError) {
    guard lines.count < Self.maximumRows else {
      throw .cannotReadMotion(
        path: name, reason: "it has more than \(Self.maximumRows) rows, which is the limit")
    }
    for (column, place) in zip(columns, places) {
      let isGapAllowed = wanted.gaps.contains(column)
      guard place < parts.count else {
        if isGapAllowed {
          cells.append(.nan)
          continue
        }
        throw .badMotionRow(path: name, line: line, reason: "column '\(column)' is missing")
      }
      let text = Self.text(parts[place])
      let value = Double(text) ?? (text.isEmpty && isGapAllowed ? .nan : nil)
      guard let value, value.isFinite || isGapAllowed else {
        let reason = "column '\(column)' contains '\(text.prefix(40))', not a finite number"
        throw .badMotionRow(path: name, line: line, reason: reason)
      }
      cells.append(value)
    }
    lines.append(line)
  }

  private static func trimmed(_ cell: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var cell = cell
    while let first = cell.first, first <= 0x20 || first == 0x22 { cell.removeFirst() }
    while let last = cell.last, last <= 0x20 || last == 0x22 { cell.removeLast() }
    return cell
  }

  /// Returns the trimmed text of a cell. Bytes below 0x20 become `?`, to keep error messages on one
  /// line.
  private static func text(_ cell: ArraySlice<UInt8>) -> String {
    String(decoding: trimmed(cell).map { $0 < 0x20 ? 0x3F : $0 }, as: UTF8.self)
  }
}
