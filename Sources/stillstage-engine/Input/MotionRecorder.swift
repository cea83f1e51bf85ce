// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Synchronization

/// Writes a tracker's samples as CSV: the orientation and, if the first sample has raw data, the
/// raw data. An existing file is replaced when the first sample is written.
final class MotionRecorder: Sendable {
  private let waiting = Mutex<[TrackerMeasurement]>([])
  private let state = Mutex(State())
  private let descriptor: Int32
  private let path: String

  /// Whether the file did not exist before.
  private let isNew: Bool

  private struct State {
    /// The time of the first sample; nil before it is written.
    var first: Int64?
    var count = 0
    var last = Int64.min
    var isRaw = false
    var hasField = false
  }

  init(path: String) throws(CommandFailure) {
    self.path = path
    isNew = access(path, F_OK) != 0
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw cannotWrite(path)
    }
  }

  deinit {
    if isNew, state.withLock({ $0.first == nil }) { unlink(path) }
    close(descriptor)
  }

  func add(_ measurement: TrackerMeasurement) { waiting.withLock { $0.append(measurement) } }

  /// Writes the samples that were added since the previous call. Skips a sample that is not later
  /// than the last written one. Skips samples without raw data if the first sample has raw data,
  /// and vice versa.
  func flush() throws(CommandFailure) {
    let measurements = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    let (text, isFirst) = state.withLock { state in
      let isFirst = state.first == nil
      return (measurements.reduce(into: "") { $0 += Self.row($1, &state) }, isFirst)
    }
    guard !text.isEmpty else { return }
    // A pipe or a device cannot be truncated, and need not be.
    if isFirst { _ = ftruncate(descriptor, 0) }
    guard write(text, to: descriptor) else {
      throw cannotWrite(path)
    }
  }

  /// What was recorded, for the user.
  var summary: String {
    state.withLock { state in
      guard let first = state.first else {
        return "no samples arrived, so \(path) was not written"
      }
      let seconds = Double(state.last - first) * 1e-9
      let samples = state.count == 1 ? "1 sample" : "\(state.count) samples"
      return "recorded \(samples) (\(decimal(seconds, 1)) s) to \(path)"
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
    state.count += 1
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
