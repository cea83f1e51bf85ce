// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Reads a recorded head: CSV with the columns `t,w,x,y,z`, plain or gzip.
///
/// `t` is in seconds and rises, `w,x,y,z` is `headToWorld`. Columns are found by their names in
/// the first line; others are ignored, and so are blank lines.
public enum MotionFile {
  static let columns = ["t", "w", "x", "y", "z"]

  /// - Throws: `cannotReadMotion`, or `badMotionRow` with the line and what is wrong in it.
  public static func read(_ path: String) throws(HeadTrackingError) -> HeadTrajectory {
    try parse(TextFile.read(path), name: path)
  }

  /// Parses the text of a file that goes by a name in errors.
  static func parse(_ bytes: [UInt8], name: String) throws(HeadTrackingError) -> HeadTrajectory {
    var reader = MotionReader(name: name)
    var line = 0
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    var rest = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
    while !rest.isEmpty {
      line += 1
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      try reader.read(rest[..<end], line: line)
      rest = end == rest.endIndex ? [] : rest[(end + 1)...]
    }
    return try reader.finish()
  }
}

/// The rows so far, and where the columns are.
private struct MotionReader {
  let name: String
  var places: [Int] = []
  var times: [Double] = []
  var poses: [Quaternion] = []

  mutating func read(_ bytes: ArraySlice<UInt8>, line: Int) throws(HeadTrackingError) {
    let cells = Self.cells(bytes)
    if cells.count == 1, cells[0].isEmpty { return }
    if places.isEmpty {
      try readHeader(cells, line)
    } else {
      try readRow(cells, line)
    }
  }

  func finish() throws(HeadTrackingError) -> HeadTrajectory {
    guard !times.isEmpty else {
      let reason = places.isEmpty ? "it is empty" : "it has a header but no rows"
      throw .cannotReadMotion(path: name, reason: reason)
    }
    return HeadTrajectory(times: times, poses: poses)
  }

  private mutating func readHeader(_ cells: [String], _ line: Int) throws(HeadTrackingError) {
    let names = cells.map { $0.lowercased() }
    for column in MotionFile.columns {
      let found = names.indices.filter { names[$0] == column }
      guard found.count == 1 else {
        let what = found.isEmpty ? "has no column" : "has more than one column"
        throw error(line, "the header \(what) '\(column)'; it must name t,w,x,y,z")
      }
      places.append(found[0])
    }
  }

  private mutating func readRow(_ cells: [String], _ line: Int) throws(HeadTrackingError) {
    var values: [Double] = []
    for (column, place) in zip(MotionFile.columns, places) {
      guard place < cells.count else { throw error(line, "column '\(column)' is missing") }
      guard let value = Double(cells[place]), value.isFinite else {
        throw error(line, "column '\(column)' holds '\(cells[place].prefix(40))', not a number")
      }
      values.append(value)
    }
    if let last = times.last, values[0] <= last {
      throw error(line, "time \(values[0]) does not rise (the row before has \(last))")
    }
    var pose = Quaternion(w: values[1], x: values[2], y: values[3], z: values[4])
    guard pose.isUsable else { throw error(line, "the quaternion w,x,y,z is no rotation") }
    pose = pose.normalized
    times.append(values[0])
    poses.append(pose)
  }

  private func error(_ line: Int, _ reason: String) -> HeadTrackingError {
    .badMotionRow(path: name, line: line, reason: reason)
  }

  /// The cells of a line without blanks, quotes and a carriage return.
  private static func cells(_ bytes: ArraySlice<UInt8>) -> [String] {
    bytes.split(separator: 0x2C, omittingEmptySubsequences: false).map { cell in
      var cell = cell
      while let first = cell.first, first <= 0x20 || first == 0x22 { cell.removeFirst() }
      while let last = cell.last, last <= 0x20 || last == 0x22 { cell.removeLast() }
      // A wrong line goes into an error message, which must stay one line.
      return String(decoding: cell.map { $0 < 0x20 ? 0x3F : $0 }, as: UTF8.self)
    }
  }
}
