// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Raw samples of an inertial sensor in a file, and the true orientation where somebody measured
/// it.
///
/// CSV, plain or gzip, with columns found by name: `t` in seconds and rising, `gx,gy,gz` in rad/s,
/// `ax,ay,az` in m/s2; where there are any, `mx,my,mz` in microtesla, `qw,qx,qy,qz` with the truth
/// from sensor to earth (x east, y north, z up) and `movement`, 1 in the rows that count. A cell of
/// a sensor or of the truth may be `nan` or empty: it was lost.
public struct InertialRecording: Sendable {
  /// Seconds, one for each sample, as they stand in the file.
  public private(set) var times: [Double] = []
  /// What the sensor said; their stamps are `times` in nanoseconds.
  public private(set) var samples: [InertialSample] = []
  /// Sensor to earth, of unit norm; nil where it was lost. Empty where the file has no truth.
  public private(set) var truth: [Quaternion?] = []
  /// Whether a sample counts when errors are taken: where the file says nothing, all do.
  public private(set) var isScored: [Bool] = []
  /// Whether the file has a magnetometer's columns.
  public let hasMagneticField: Bool

  /// - Throws: `cannotReadMotion`, or `badMotionRow` with the line and what is wrong in it.
  public init(path: String) throws(HeadTrackingError) {
    try self.init(TextFile.read(path), name: path)
  }

  init(_ bytes: [UInt8], name: String) throws(HeadTrackingError) {
    let inertial = ["gx", "gy", "gz", "ax", "ay", "az"]
    let optional = [["mx", "my", "mz"], ["qw", "qx", "qy", "qz"], ["movement"]]
    let wanted = ColumnTable.Wanted(
      required: ["t"] + inertial, optional: optional, gaps: Set(inertial + optional.joined()))
    let table = try ColumnTable(bytes, name: name, wanted)
    let field = table.place(of: "mx")
    hasMagneticField = field != nil
    for index in 0..<table.rowCount {
      let row = Array(table.row(index))
      guard abs(row[0]) < 9e9 else {
        throw table.error(row: index, "time \(row[0]) is beyond what nanoseconds can tell")
      }
      if let last = times.last, row[0] <= last {
        throw table.error(
          row: index, "time \(row[0]) does not rise (the row before has \(last))")
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
