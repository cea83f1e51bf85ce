// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Synchronization
import UserFiles

func calibrateCommand(_ command: ParsedCommand) throws(CommandFailure) {
  var settings = try trackerSettings(command, tracker: command[Arguments.calibratedTracker])
  settings.isCalibrating = true
  if try networkTracker(command[Arguments.calibratedTracker], command) != nil {
    throw CommandFailure(
      "network trackers cannot be calibrated; choose a preset instead, such as osc:9000:sparta")
  }
  let tracker = try foundTracker(command[Arguments.calibratedTracker], settings)
  guard let folder = UserFolder.ofThisProcess else {
    throw CommandFailure(
      "cannot save the calibration: neither XDG_CONFIG_HOME nor HOME is an absolute path; set one "
        + "of them")
  }
  let guide = CalibrationGuide(
    tracker: tracker, settings: settings, isQuiet: command[Options.json])
  defer { guide.session.stop() }
  let result = try guide.run()
  let text = CalibrationFile.text(of: result.calibration)
  let path = CalibrationFile.path(for: tracker, in: folder)
  if !command[Options.dryRun] {
    try makeFolders(path)
    try TextOutput(path: path).write(text, mode: 0o644)
  }
  if command[Options.json] {
    try printOutput(text)
  } else {
    try printOutput(result.summary)
    try printOutput(command[Options.dryRun] ? "\n\(text)" : "Saved to \(path)\n")
  }
}

/// Creates the missing folders above a file.
func makeFolders(_ path: String) throws(CommandFailure) {
  for index in path.indices.dropFirst() where path[index] == "/" {
    let folder = String(path[..<index])
    guard mkdir(folder, 0o700) != 0 else { continue }
    let reason = errno
    guard reason == EEXIST || access(folder, X_OK) == 0 else {
      throw CommandFailure(
        "cannot create the folder \(folder): \(String(cString: strerror(reason))); "
          + "check its parent folder")
    }
  }
}

/// Instructs the listener and records the tracker's samples.
private final class CalibrationGuide: Sendable {
  struct Outcome {
    let calibration: TrackerCalibration
    let summary: String
  }

  let session: TrackerSession
  private let tracker: TrackerDescription
  private let isQuiet: Bool
  private let heard: Heard
  private let line = GuideLine()

  /// What the session reports to the guide, passed between threads.
  private final class Heard: Sendable {
    let measurements = Mutex<[TrackerMeasurement]>([])
    let failure = Mutex<String?>(nil)
    /// When the tracker was connected, in CLOCK_MONOTONIC nanoseconds; nil until then.
    let connection = Mutex<Int64?>(nil)
  }

  /// The time for which a resting tracker is measured, in seconds.
  private static let restSeconds = 4.0
  /// The time limit for each pose, in seconds.
  private static let waitSeconds = 60.0
  /// The time without samples after which a tracker counts as silent, in ns.
  private static let silence: Int64 = 5_000_000_000
  /// The time limit for the connection, in ns.
  private static let connectTime: Int64 = 30_000_000_000

  init(tracker: TrackerDescription, settings: TrackerSettings, isQuiet: Bool) {
    self.tracker = tracker
    self.isQuiet = isQuiet
    let heard = Heard()
    self.heard = heard
    session = TrackerSession(
      .id(tracker.path), feeding: HeadPoseSource(), settings: settings,
      onEvent: { event in
        switch event {
        case .connected: heard.connection.withLock { $0 = monotonic_nanoseconds() }
        case .lost:
          heard.failure.withLock {
            $0 = "the tracker was disconnected; reconnect it and calibrate again"
          }
        case .failed(let error): heard.failure.withLock { $0 = error.description }
        default: break
        }
      },
      record: { measurement in heard.measurements.withLock { $0.append(measurement) } })
  }

  func run() throws(CommandFailure) -> Outcome {
    session.start()
    defer { line.end() }
    if line.readsKeys { say("Press q to cancel the calibration.") }
    let levelsItself = tracker.levelsItself
    say(
      levelsItself
        ? "Wear the \(tracker.earphones == nil ? "tracker" : "earphones") and keep still for "
          + "4 seconds."
        : "Put the tracker down, or wear it and keep still. It is measured for 4 seconds.")
    let report = try rest()
    say(
      levelsItself
        ? "Hold your head upright, look straight ahead and keep still."
        : "The tracker was still. Wear it, look straight ahead and hold still.")
    let ahead = try held(0...180, from: nil)
    say("Look up by about 30 degrees and hold still.")
    let up = try held(AxisFinding.smallestUpTurn...120, from: ahead)
    say("Look ahead again.")
    _ = try held(0...12, from: ahead)
    say(
      levelsItself
        ? "Turn to the left by 90 degrees, with your whole body, and hold still."
        : "Turn your head to the left by about 45 degrees and hold still.")
    let left = try held((levelsItself ? 60 : AxisFinding.smallestLeftTurn)...150, from: ahead)
    do throws(CalibrationError) {
      return levelsItself
        ? try outcome(report, try MountingFinding(ahead: ahead, up: up, left: left))
        : try outcome(
          report,
          try AxisFinding(
            ahead: ahead, up: up, left: left, isUpright: report.forceNoise != nil))
    } catch { throw CommandFailure("cannot calibrate \(tracker.name): \(error)") }
  }

  private func outcome(
    _ report: StillnessReport, _ finding: AxisFinding
  ) throws(CalibrationError) -> Outcome {
    let calibration = TrackerCalibration(
      of: tracker, axes: finding.axes, up: finding.up, gyroBias: report.gyroBias,
      gyroNoise: report.gyroNoise, forceNoise: report.forceNoise, rate: report.rate)
    try calibration.validate()
    let axes = [
      ["Axes (front, left, up)", "\(finding.axes.text), up is \(finding.up.text)"],
      ["Misalignment", "\(decimal(finding.misalignmentDegrees, 1)) degrees"],
    ]
    return Outcome(calibration: calibration, summary: calibrationSummary(report, axes))
  }

  private func outcome(
    _ report: StillnessReport, _ finding: MountingFinding
  ) throws(CalibrationError) -> Outcome {
    var calibration = TrackerCalibration(
      of: tracker, axes: .frontLeftUp, up: .z, rate: report.rate)
    calibration.mounting = finding.mounting
    try calibration.validate()
    let mounting = finding.mounting
    let angles = YawPitchRoll(mounting.rotation)
    let axes = [
      [
        "Mounting",
        "yaw \(decimal(angles.yaw, 1)), pitch \(decimal(angles.pitch, 1)), "
          + "roll \(decimal(angles.roll, 1)) degrees; \(mounting.components.rawValue)"
          + (mounting.isInverse ? ", inverse" : "") + (mounting.isUpsideDown ? ", z down" : ""),
      ],
      ["Misalignment", "\(decimal(finding.misalignmentDegrees, 1)) degrees"],
      ["Turn by 90 degrees", "measured \(decimal(finding.leftTurnDegrees, 1)) degrees"],
    ]
    return Outcome(calibration: calibration, summary: calibrationSummary(report, axes))
  }

  /// Records the resting tracker. Throws an error if the tracker sends no samples, if
  /// `StillnessReport` rejects the samples, or if `take` throws.
  private func rest() throws(CommandFailure) -> StillnessReport {
    let begin = monotonic_nanoseconds()
    // Discard the first samples, which may be late and less accurate. A Bluetooth tracker takes up
    // to 10 s to connect.
    while try take().isEmpty {
      let connection = heard.connection.withLock { $0 }
      let limit = connection.map { $0 + Self.silence } ?? begin + Self.connectTime
      guard monotonic_nanoseconds() < limit else { throw silent }
    }
    var kept: [TrackerMeasurement] = []
    let start = monotonic_nanoseconds()
    let end = start + Int64(Self.restSeconds * 1e9)
    while monotonic_nanoseconds() < end {
      kept += try take()
      let left = Double(end - monotonic_nanoseconds()) * 1e-9
      line.show("\(decimal(max(0, left), 0)) s left; keep still")
    }
    do throws(CalibrationError) {
      return try StillnessReport(poses: kept.map(\.head), inertial: kept.compactMap(\.inertial))
    } catch { throw CommandFailure("cannot calibrate \(tracker.name): \(error)") }
  }

  private func held(
    _ distance: ClosedRange<Double>, from reference: Quaternion?
  ) throws(CommandFailure) -> Quaternion {
    var wanted = HeldPose(distance: distance, from: reference)
    let end = monotonic_nanoseconds() + Int64(Self.waitSeconds * 1e9)
    var last = monotonic_nanoseconds()
    while monotonic_nanoseconds() < end {
      let measurements = try take()
      for measurement in measurements {
        if let pose = wanted.add(measurement.head) { return pose }
      }
      if let text = Self.progress(wanted) { line.show(text) }
      if !measurements.isEmpty { last = monotonic_nanoseconds() }
      guard monotonic_nanoseconds() - last < Self.silence else { throw silent }
    }
    throw CommandFailure(
      "the requested pose was not reached and held within a minute; calibrate again, and hold each "
        + "pose for a second")
  }

  /// Returns how far the head has turned and what the listener must do next. Returns nil if any
  /// pose is accepted, or before the first sample.
  private static func progress(_ wanted: HeldPose) -> String? {
    guard let angle = wanted.angleDegrees else { return nil }
    let turned = "turned by \(decimal(angle, 0)) degrees"
    if angle < wanted.distance.lowerBound {
      return "\(turned); turn to at least \(decimal(wanted.distance.lowerBound, 0)) degrees"
    }
    if angle > wanted.distance.upperBound {
      return "\(turned); turn back to at most \(decimal(wanted.distance.upperBound, 0)) degrees"
    }
    return "\(turned); hold still"
  }

  /// Waits for a short time and returns the samples that have arrived since the previous call.
  /// Throws an error if the listener, a signal or a failure of the tracker ends the calibration.
  private func take() throws(CommandFailure) -> [TrackerMeasurement] {
    if line.wantsToEnd(waitMilliseconds: 20) { throw CommandFailure(Self.given(up: tracker)) }
    if Signals.received != nil { throw .interrupted }
    if let failure = heard.failure.withLock({ $0 }) { throw CommandFailure(failure) }
    return heard.measurements.withLock { measurements in
      defer { measurements = [] }
      return measurements
    }
  }

  private var silent: CommandFailure {
    CommandFailure("\(tracker.name) sends no samples; check its battery and connection")
  }

  private static func given(up tracker: TrackerDescription) -> String {
    "the calibration of \(tracker.name) was cancelled with q; any earlier calibration is unchanged"
  }

  private func say(_ text: String) {
    line.clear()
    write("\(text)\n", to: isQuiet ? STDERR_FILENO : STDOUT_FILENO)
  }
}

/// Returns the results as a text table, with the rows `axes` first.
private func calibrationSummary(_ report: StillnessReport, _ axes: [[String]]) -> String {
  let degrees = 180 / Double.pi
  func vector(_ v: SIMD3<Double>?, _ scale: Double, _ unit: String) -> String {
    guard let v else { return "none" }
    return (0..<3).map { decimal(v[$0] * scale, 3) }.joined(separator: "  ") + " \(unit)"
  }
  // The pose of a tracker with raw samples is not measured.
  let pose = [
    "Pose",
    "noise \(decimal(report.poseNoise * degrees, 3)) degrees, drift "
      + "\(decimal(report.poseDrift * degrees * 60, 2)) degrees/min",
  ]
  return table(
    axes + [
      ["Rate", "\(decimal(report.rate, 1)) Hz, jitter \(decimal(report.jitter * 1000, 2)) ms"],
      ["Gyroscope bias", vector(report.gyroBias, degrees, "degrees/s")],
      ["Gyroscope noise", vector(report.gyroNoise, degrees, "degrees/s")],
      ["Accelerometer noise", vector(report.forceNoise, 1, "m/s2")],
    ] + (report.forceNoise == nil ? [pose] : []))
}
