// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Synchronization

/// Writes a tracker's samples as CSV: the orientation and, if the first sample has raw data, the
/// raw data.
final class MotionRecorder: Sendable {
  private let waiting = Mutex<[TrackerMeasurement]>([])
  private let state = Mutex(State())
  private let descriptor: Int32
  private let path: String

  private struct State {
    var first: Int64?
    var last = Int64.min
    var isRaw = false
    var hasField = false
  }

  init(path: String) throws(CommandFailure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw cannotWrite(path)
    }
  }

  deinit { close(descriptor) }

  func add(_ measurement: TrackerMeasurement) { waiting.withLock { $0.append(measurement) } }

  /// Writes the samples that were added since the previous call. Skips a sample that is not later
  /// than the last written one. Skips samples without raw data if the first sample has raw data,
  /// and vice versa.
  func flush() throws(CommandFailure) {
    let measurements = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    let text = state.withLock { state in
      measurements.reduce(into: "") { $0 += Self.row($1, &state) }
    }
    guard text.isEmpty || write(text, to: descriptor) else {
      throw cannotWrite(path)
    }
  }

  private static func row(_ measurement: TrackerMeasurement, _ state: inout State) -> String {
    var text = ""
    let time = measurement.head.time
    if state.first == nil {
      state.first = time
      state.isRaw = measurement.inertial != nil
      state.hasField = measurement.inertial?.magneticField != nil
      let raw = state.isRaw ? "gx,gy,gz,ax,ay,az," : ""
      text = "t,\(raw)\(state.hasField ? "mx,my,mz," : "")w,x,y,z\n"
    }
    // Readers require ascending times and the same columns in every row.
    guard time > state.last, let first = state.first else { return text }
    guard (measurement.inertial != nil) == state.isRaw else { return text }
    state.last = time
    // Whole microseconds keep the numbers short.
    var numbers = [(Double(time - first) * 1e-3).rounded() / 1e6]
    if let raw = measurement.inertial {
      numbers += parts(raw.angularVelocity) + parts(raw.specificForce)
      if state.hasField { numbers += parts(raw.magneticField ?? SIMD3(.nan, .nan, .nan)) }
    }
    let q = measurement.head.headToWorld
    numbers += [q.w, q.x, q.y, q.z]
    return text + numbers.map { "\($0)" }.joined(separator: ",") + "\n"
  }

  private static func parts(_ v: SIMD3<Double>) -> [Double] { [v.x, v.y, v.z] }
}
