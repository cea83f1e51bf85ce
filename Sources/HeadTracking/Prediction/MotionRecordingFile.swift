// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Reads a recorded motion with its gyroscope for the prediction trial.
///
/// CSV, plain or gzip: `t` in seconds, rising; the pose `headToWorld` in `w,x,y,z` or
/// `qw,qx,qy,qz`, `nan` where it is not known; `gx,gy,gz` in rad/s, optional; `movement`,
/// optional: rows with 0 are not scored. Other columns are ignored.
public enum MotionRecordingFile {
  /// - Throws: `cannotReadMotion`, or `badMotionRow` with the line and what is wrong in it.
  public static func read(_ path: String) throws(HeadTrackingError) -> RecordedMotion {
    try parse(TextFile.read(path), name: path)
  }

  static func parse(_ bytes: [UInt8], name: String) throws(HeadTrackingError) -> RecordedMotion {
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    let heading = lines.popFirst().map { cells($0).map { $0.lowercased() } } ?? []
    let place = { (name: String) in heading.firstIndex(of: name) }
    let pose = ["w", "x", "y", "z"].compactMap { place($0) ?? place("q" + $0) }
    guard let time = place("t"), pose.count == 4 else {
      let reason = "it has no columns t,w,x,y,z (or t,qw,qx,qy,qz)"
      throw .cannotReadMotion(path: name, reason: reason)
    }
    let gyro = ["gx", "gy", "gz"].compactMap(place)
    let movement = place("movement")
    let wanted = [time] + pose + (gyro.count == 3 ? gyro : []) + (movement.map { [$0] } ?? [])
    var motion = RecordedMotion(times: [], poses: [])
    for (number, line) in lines.enumerated() {
      let row = cells(line)
      if row == [""] { continue }
      let values = wanted.map { $0 < row.count ? Double(row[$0]) : nil }
      let bad = HeadTrackingError.badMotionRow(
        path: name, line: number + 2, reason: "a column is missing or holds no number")
      guard values.allSatisfy({ $0 != nil }) else { throw bad }
      try add(
        values.map { $0 ?? .nan }, hasGyro: gyro.count == 3, hasMovement: movement != nil,
        to: &motion, line: number + 2, name: name)
    }
    guard !motion.times.isEmpty else {
      throw .cannotReadMotion(path: name, reason: "it has a header but no rows")
    }
    return motion
  }

  private static func add(
    _ values: [Double], hasGyro: Bool, hasMovement: Bool, to motion: inout RecordedMotion,
    line: Int, name: String
  ) throws(HeadTrackingError) {
    guard values[0].isFinite, motion.times.last.map({ values[0] > $0 }) ?? true else {
      throw .badMotionRow(path: name, line: line, reason: "time \(values[0]) does not rise")
    }
    let pose = Quaternion(w: values[1], x: values[2], y: values[3], z: values[4])
    motion.times.append(values[0])
    motion.poses.append(pose.isUsable ? pose.normalized : nil)
    if hasGyro {
      let rate = SIMD3(values[5], values[6], values[7])
      motion.angularVelocities.append((rate * rate).sum() < 1e4 ? rate : .zero)
    }
    if hasMovement { motion.isScored.append((values.last ?? 1) != 0) }
  }

  private static func cells(_ line: ArraySlice<UInt8>) -> [String] {
    line.split(separator: 0x2C, omittingEmptySubsequences: false).map { cell in
      String(decoding: cell.filter { $0 > 0x20 && $0 != 0x22 }, as: UTF8.self)
    }
  }
}
