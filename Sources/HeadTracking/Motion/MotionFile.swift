// SPDX-License-Identifier: Apache-2.0

import Geometry
public import System

/// Reads a recorded head motion: CSV with the columns `t,w,x,y,z`, plain or gzip.
///
/// `t` is in seconds and strictly increasing; `w,x,y,z` is `headToWorld`. Columns are found by
/// name.
public enum MotionFile {
  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - monitor: receives the fraction of the file that has been read.
  ///
  /// - Throws: `cannotReadMotion` if the file cannot be read, has no rows, or is too large;
  ///   `badMotionRow` if a line is invalid; `interrupted` if the monitor ended the reading.
  public static func read(
    _ path: String, monitor: TaskMonitor = .none
  ) throws(HeadTrackingError) -> HeadTrajectory {
    try trajectory(ColumnTable(path: path, wanted, monitor: monitor), monitor)
  }

  private static var wanted: ColumnTable.Wanted { .init(required: ["t", "w", "x", "y", "z"]) }

  /// Parses the text of a file. Errors refer to the file by `name`.
  static func parse(_ bytes: [UInt8], name: String) throws(HeadTrackingError) -> HeadTrajectory {
    try trajectory(ColumnTable(bytes, name: name, wanted), .none)
  }

  private static func trajectory(
    _ table: ColumnTable, _ monitor: TaskMonitor
  ) throws(HeadTrackingError) -> HeadTrajectory {
    var times: [Double] = []
    var poses: [Quaternion] = []
    for index in 0..<table.rowCount {
      if index % 4096 == 0, !monitor.goesOn(1) { throw .interrupted }
      let row = Array(table.row(index))
      if let last = times.last, row[0] <= last {
        throw table.error(
          row: index, "time \(row[0]) is not later than \(last), the time of the previous row")
      }
      let pose = Quaternion(w: row[1], x: row[2], y: row[3], z: row[4])
      guard pose.isUsable else {
        throw table.error(row: index, "the quaternion w,x,y,z is not a rotation")
      }
      times.append(row[0])
      poses.append(pose.normalized)
    }
    return HeadTrajectory(times: times, poses: poses)
  }
}
