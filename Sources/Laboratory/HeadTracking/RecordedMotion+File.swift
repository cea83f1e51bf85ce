// SPDX-License-Identifier: Apache-2.0

import Geometry
package import HeadTracking
package import System

extension RecordedMotion {
  /// Reads a recorded motion from a CSV file, plain or gzip.
  ///
  /// The columns are found by name: ascending times `t` in seconds, poses `headToWorld` in
  /// `w,x,y,z` or `qw,qx,qy,qz`, and optionally angular velocities `gx,gy,gz` in rad/s. The cells
  /// of an unknown pose are empty or `nan`. An angular velocity that is unknown or at least
  /// 100 rad/s is read as 0. If there is a column `movement`, only the rows with a 1 in this column
  /// are scored.
  ///
  /// - Throws: `cannotReadMotion` if the file cannot be read, is too large, or has no rows or no
  ///   columns for the pose; `badMotionRow` if the header or a row is invalid; `interrupted` if the
  ///   monitor ended the reading.
  package init(path: String, monitor: TaskMonitor = .none) throws(HeadTrackingError) {
    try self.init(ColumnTable(path: path, Self.wanted, monitor: monitor), name: path)
  }

  init(_ bytes: [UInt8], name: String) throws(HeadTrackingError) {
    try self.init(ColumnTable(bytes, name: name, Self.wanted), name: name)
  }

  private static var wanted: ColumnTable.Wanted {
    let optional = [
      ["w", "x", "y", "z"], ["qw", "qx", "qy", "qz"], ["gx", "gy", "gz"], ["movement"],
    ]
    return ColumnTable.Wanted(
      required: ["t"], optional: optional, gaps: Set(optional.joined()))
  }

  private init(_ table: ColumnTable, name: String) throws(HeadTrackingError) {
    guard let pose = table.place(of: "w") ?? table.place(of: "qw") else {
      throw .cannotReadMotion(path: name, reason: "it has no columns w,x,y,z or qw,qx,qy,qz")
    }
    let (gyroscope, movement) = (table.place(of: "gx"), table.place(of: "movement"))
    self.init(times: [], poses: [])
    for index in 0..<table.rowCount {
      let row = Array(table.row(index))
      guard abs(row[0]) < 9e9 else {
        throw table.error(
          row: index, "time \(row[0]) s is out of range; it must be between -9e9 and 9e9 s")
      }
      if let last = times.last, row[0] <= last {
        throw table.error(
          row: index, "time \(row[0]) is not later than \(last), the time of the previous row")
      }
      let turn = Quaternion(w: row[pose], x: row[pose + 1], y: row[pose + 2], z: row[pose + 3])
      times.append(row[0])
      poses.append(turn.isUsable ? turn.normalized : nil)
      if let gyroscope {
        let rate = SIMD3(row[gyroscope], row[gyroscope + 1], row[gyroscope + 2])
        angularVelocities.append(SampleConditioner.finite(rate) ?? .zero)
      }
      if let movement { isScored.append(row[movement] == 1) }
    }
  }
}
