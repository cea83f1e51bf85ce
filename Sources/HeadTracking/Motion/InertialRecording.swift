// SPDX-License-Identifier: Apache-2.0

public import Geometry
public import System

/// Recorded raw samples of an inertial sensor, with the true orientation if the file contains it.
///
/// The file is CSV, plain or gzip, with columns found by name: `t` in seconds and strictly
/// increasing, `gx,gy,gz` in rad/s, `ax,ay,az` in m/s2. Optional columns are `mx,my,mz` in
/// microtesla, `qw,qx,qy,qz` with the true orientation from sensor to earth (x east, y north, z
/// up), and `movement`, which is 1 in the rows that an evaluation counts. Cells in columns other
/// than `t` may be empty or `nan`.
public struct InertialRecording: Sendable {
  /// The time of each sample in seconds, as in the file.
  public private(set) var times: [Double] = []
  /// The samples. Their times are `times`, converted to nanoseconds. Empty cells become NaN.
  public private(set) var samples: [InertialSample] = []
  /// For each sample, the true orientation from sensor to earth; nil if it is missing or not a
  /// rotation. The array is empty if the file lacks any of the columns `qw,qx,qy,qz`.
  public private(set) var truth: [Quaternion?] = []
  /// For each sample, whether an evaluation counts it; true if the file has no `movement` column.
  public private(set) var isScored: [Bool] = []
  /// Whether the file has magnetometer columns.
  public let hasMagneticField: Bool

  /// Reads a recording.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - monitor: receives the fraction of the file that has been read.
  ///
  /// - Throws: `cannotReadMotion` if the file cannot be read, has no rows, or is too large;
  ///   `badMotionRow` if a line is invalid; `interrupted` if the monitor ended the reading.
  public init(path: String, monitor: TaskMonitor = .none) throws(HeadTrackingError) {
    try self.init(ColumnTable(path: path, Self.wanted, monitor: monitor), monitor)
  }

  init(_ bytes: [UInt8], name: String) throws(HeadTrackingError) {
    try self.init(ColumnTable(bytes, name: name, Self.wanted), .none)
  }

  private static var wanted: ColumnTable.Wanted {
    let inertial = ["gx", "gy", "gz", "ax", "ay", "az"]
    let optional = [["mx", "my", "mz"], ["qw", "qx", "qy", "qz"], ["movement"]]
    return ColumnTable.Wanted(
      required: ["t"] + inertial, optional: optional, gaps: Set(inertial + optional.joined()))
  }

  private init(_ table: ColumnTable, _ monitor: TaskMonitor) throws(HeadTrackingError) {
    let field = table.place(of: "mx")
    hasMagneticField = field != nil
    for index in 0..<table.rowCount {
      if index % 4096 == 0, !monitor.goesOn(1) { throw .interrupted }
      let row = Array(table.row(index))
      guard abs(row[0]) < 9e9 else {
        throw table.error(
          row: index, "time \(row[0]) s is out of range; it must be between -9e9 and 9e9 s")
      }
      if let last = times.last, row[0] <= last {
        throw table.error(
          row: index, "time \(row[0]) is not later than \(last), the time of the previous row")
      }
      times.append(row[0])
      samples.append(Self.sample(row, field: field))
      if let place = table.place(of: "qw") { truth.append(Self.turn(row[place...])) }
      isScored.append(table.place(of: "movement").map { row[$0] == 1 } ?? true)
    }
  }

  private static func sample(_ row: [Double], field: Int?) -> InertialSample {
    InertialSample(
      time: Int64((row[0] * 1e9).rounded()), angularVelocity: SIMD3(row[1], row[2], row[3]),
      specificForce: SIMD3(row[4], row[5], row[6]),
      magneticField: field.map { SIMD3(row[$0], row[$0 + 1], row[$0 + 2]) })
  }

  private static func turn(_ cells: ArraySlice<Double>) -> Quaternion? {
    let c = Array(cells)
    let turn = Quaternion(w: c[0], x: c[1], y: c[2], z: c[3])
    return turn.isUsable ? turn.normalized : nil
  }
}
