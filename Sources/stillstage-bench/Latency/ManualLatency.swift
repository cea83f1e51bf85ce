// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Laboratory
import Playback
import Rendering
import SoundSources
import Synchronization

/// The result of `bench latency --manual`.
struct ManualReport: Codable {
  var machine: BenchMachine
  /// Lag of the motion in the recorded sound behind the tracker's motion, in ms; negative if the
  /// sound is ahead.
  var lagMilliseconds: Double
  /// Standard error of the lag, in ms.
  var uncertaintyMilliseconds: Double
  /// Difference between the yaw in the recorded sound and the tracker's yaw after correction for
  /// the lag, in degrees rms.
  var residualDegrees: Double
  /// Difference between the tracker's largest and smallest yaw, in degrees.
  var reachDegrees: Double
  var queue: Distribution?
  var capture: CaptureCheck
}

/// Runs `stillstage bench latency --manual --tracker ID`: compares the motion of a real tracker
/// with the motion in the recorded sound.
func manualLatencyCommand(
  _ command: ParsedCommand, picture: String?
) throws(CommandFailure) {
  guard case .id(let id) = command[Options.tracker] else {
    throw .usage("--manual needs --tracker ID; 'stillstage trackers' lists the IDs of trackers")
  }
  if picture != nil {
    throw .usage("--chart works only with the virtual tracker; omit --chart")
  }
  // Without `--server`, the user's own sound server is measured.
  let choice = command.isGiven(Options.benchServer) ? command[Options.benchServer] : .current
  let server = try LatencyServer(.init(choice), sink: command[Options.sink])
  defer { server.stop() }
  let run = try ManualRun(id, command, on: server)
  let report = try run.measure(seconds: command[Options.benchSeconds])
  if command[Options.json] {
    try printJSON(report)
  } else {
    try printOutput(
      """
      the sound lags behind the tracker by \(decimal(report.lagMilliseconds, 1)) ms \
      (+- \(decimal(report.uncertaintyMilliseconds, 1))) over a range of \
      \(decimal(report.reachDegrees, 0)) degrees; \
      the residual is \(decimal(report.residualDegrees, 1)) degrees rms
      queue and sink: \(decimal(report.queue?.p50 ?? 0, 1)) ms; recording: frames appear \
      \(decimal(report.capture.differenceMilliseconds, 2)) ms after their announced times \
      (median), 95 % of them within +-\(decimal(report.capture.spreadMilliseconds, 2)) ms of the \
      median

      """)
  }
}

private final class ManualRun {
  private let server: LatencyServer
  private let setting: LatencySetting
  private let sourceName: String?
  private let source = HeadPoseSource()
  private let tracker: LiveTracker
  private let player: Player
  private let capture: TimedCapture
  private let course: Course

  private final class Course: Sendable {
    let rows = Mutex<[(time: Int64, pose: Quaternion)]>([])
    func hear(_ measurement: TrackerMeasurement) {
      rows.withLock { $0.append((measurement.head.time, measurement.head.headToWorld)) }
    }
  }

  init(_ id: String, _ command: ParsedCommand, on server: LatencyServer) throws(CommandFailure) {
    self.server = server
    sourceName = command[Options.benchSource]
    source.takesDriftBack = false
    let course = Course()
    self.course = course
    tracker = try LiveTracker.start(
      id, command, feeding: source, events: { _ in }, record: course.hear)
    let kind = LatencySetting.Server(
      command.isGiven(Options.benchServer) ? command[Options.benchServer] : .current)
    setting = LatencySetting(
      server: kind, output: try LatencySetting.Output(command, server: kind),
      queueMilliseconds: command[Options.benchQueue])
    let options = setting.playerOptions(on: server, head: source)
    do throws(CommandFailure) {
      player = try playing { () throws(PlaybackError) in
        try Player(options: options) { rate throws(PlaybackError) in BenchNoise(sampleRate: rate) }
      }
      capture = try TimedCapture(
        server: server.address, sink: server.sink, source: sourceName,
        sampleRate: player.sampleRate, timing: server.timing)
    } catch {
      tracker.stop()
      throw error
    }
  }

  func measure(seconds: Double) throws(CommandFailure) -> ManualReport {
    defer {
      player.stop()
      tracker.stop()
    }
    try playing { () throws(PlaybackError) in try player.start() }
    var queue: [Double] = []
    printNote("point the tracker to the front and hold it still for two seconds")
    try pause(2, &queue)
    let start = monotonic_nanoseconds() - 600_000_000
    printNote("now turn it left and right by 30 to 90 degrees until the measurement ends")
    try pause(seconds, &queue)
    player.stop()
    tracker.stop()
    let (sound, timeline) = try capture.finish()
    let rate = player.sampleRate
    let check = try CaptureCheck(
      setting, on: server, source: sourceName, sampleRate: rate
    ) { seconds in
      for _ in 0..<Int(seconds * 100) where Signals.received == nil { usleep(10_000) }
      return Signals.received == nil
    }
    return try report(sound, timeline, from: start, queue, check)
  }

  private func pause(_ seconds: Double, _ queue: inout [Double]) throws(CommandFailure) {
    for _ in 0..<Int(seconds * 100) {
      if Signals.received != nil { throw .interrupted }
      if let latency = player.status.output.measuredLatencyMilliseconds { queue.append(latency) }
      usleep(10_000)
    }
  }

  private func report(
    _ sound: EarSound, _ timeline: CaptureTimeline, from start: Int64, _ queue: [Double],
    _ check: CaptureCheck
  ) throws(CommandFailure) -> ManualReport {
    let rate = player.sampleRate
    let reader = YawReader(
      ahead: try BenchNoise.rendered(yaw: 0, sampleRate: rate),
      left: try BenchNoise.rendered(yaw: 90, sampleRate: rate),
      right: try BenchNoise.rendered(yaw: -90, sampleRate: rate))
    let first = timeline.frame(at: Double(start))
    let moments = reader.moments(in: sound, startingAt: first..<first + rate / 2)
    let heard = moments.filter { $0.yaw.isFinite }
    let rows = course.rows.withLock { $0 }
    let front = source.front ?? 0
    let head = rows.map { row in
      let relative = Quaternion(rotationVector: SIMD3(0, 0, -front)) * row.pose
      return YawPitchRoll(relative).yaw
    }
    let yaws = zip(rows, head).filter { $0.0.time > start }.map(\.1)
    let reach = (yaws.max() ?? 0) - (yaws.min() ?? 0)
    guard reach > 10 else {
      throw CommandFailure(
        rows.isEmpty
          ? "the tracker sends no data; check it with 'stillstage trackers'"
          : "the tracker turned by only \(decimal(reach, 0)) degrees; turn it by at least "
            + "30 degrees")
    }
    guard
      let lag = TrajectoryLag(
        of: (
          heard.map { (timeline.time(ofFrame: Double($0.frame)) - Double(start)) * 1e-9 },
          heard.map(\.yaw)
        ), behind: (rows.map { Double($0.time - start) * 1e-9 }, head))
    else {
      throw CommandFailure(
        "the recorded sound does not follow the tracker; check the recorded input and its level")
    }
    return ManualReport(
      machine: .current, lagMilliseconds: lag.seconds * 1e3,
      uncertaintyMilliseconds: lag.uncertainty * 1e3, residualDegrees: lag.residual,
      reachDegrees: reach, queue: Distribution(queue), capture: check)
  }
}
