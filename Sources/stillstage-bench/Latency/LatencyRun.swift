// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Laboratory
import Playback
import Rendering
import SoundServer
import SoundSources
import Synchronization

/// Plays the bench's noise through the program and records it, while the virtual head turns to and
/// fro in steps.
final class LatencyRun {
  struct Step {
    /// The CLOCK_MONOTONIC time at which the first report after the command for the step was sent,
    /// in ns. An injected delay holds the new pose back until a later report.
    var sent: Int64
    /// The CLOCK_MONOTONIC time at which the step's measurement ended, in ns.
    var end: Int64 = 0
    var isToTheLeft: Bool
    var isDelayed: Bool
    /// The CLOCK_MONOTONIC time at which the first report that shows the step was read, in ns; nil
    /// if there was no such report.
    var arrival: Int64?
    /// The first `SampleUse` that `look` found for the report read at `arrival` or for a later
    /// report; nil if it found none.
    var use: SampleUse?
  }

  struct Result {
    var steps: [Step]
    var sound: EarSound
    var timeline: CaptureTimeline
    /// The latencies of queue and sink, as reported by the server or, on PipeWire, estimated, in
    /// ms.
    var queue: [Double]
    /// The lengths of the queue, or of PipeWire's cycle, that the server reported, in ms.
    var queued: [Double]
    /// The status at the end of the run.
    var output: AudioOutputStatus
    var granted: Double
    var sampleRate: Int
  }

  /// The angle of a turn, in degrees.
  static let angle = 90.0
  private let setting: LatencySetting
  private let head: VirtualHead
  private let session: TrackerSession
  private let chain: any LatencyChain
  private let capture: TimedCapture
  private let arrivals: Arrivals
  private var queue: [Double] = []
  private var queued: [Double] = []
  private var uses: [SampleUse] = []
  private var lastLook: Int64 = 0

  /// Starts playback, recording and tracking, and waits until the renderer uses a report.
  ///
  /// - Parameter recorded: the name of the input to record; nil for the sink's monitor.
  init(
    _ setting: LatencySetting, on server: LatencyServer, source recorded: String?,
    head: VirtualHead
  ) throws(CommandFailure) {
    self.setting = setting
    self.head = head
    let source = HeadPoseSource()
    // The front must not follow the head during a measurement.
    source.takesDriftBack = false
    let failures = Failures()
    let arrivals = Arrivals()
    self.arrivals = arrivals
    session = TrackerSession(
      .automatic, feeding: source, onEvent: failures.hear, record: arrivals.hear)
    let options = setting.playerOptions(on: server, head: source)
    chain =
      setting.output == .sink
      ? try SinkChain(options, on: server, head: source) : try PlayerChain(options, head: source)
    capture = try TimedCapture(
      server: server.address, sink: server.sink, source: recorded, sampleRate: chain.sampleRate,
      timing: server.timing)
    try head.tell("hold 0")
    try head.tell("pose 0 0 0")
    session.start()
    do throws(CommandFailure) {
      try chain.start()
      try waitForTheTracker(failures)
    } catch {
      stop()
      throw error
    }
  }

  private final class Failures: Sendable {
    let text = Mutex<String?>(nil)
    func hear(_ event: TrackerEvent) {
      if case .failed(let error) = event { text.withLock { $0 = error.description } }
    }
  }

  private final class Arrivals: Sendable {
    private let samples = Mutex<[HeadSample]>([])
    func hear(_ measurement: TrackerMeasurement) {
      samples.withLock { $0.append(measurement.head) }
    }
    /// Returns the time of the first sample at or after `time` that shows a turn: its pose differs
    /// from the last pose before `time` by more than half the angle of a turn. Returns nil if there
    /// is no such sample or no pose before `time`.
    func turn(after time: Int64) -> Int64? {
      samples.withLock { samples in
        guard let before = samples.last(where: { $0.time < time })?.headToWorld else { return nil }
        let least = LatencyRun.angle / 2 * .pi / 180
        return samples.first {
          $0.time >= time && Quaternion.angle(between: before, $0.headToWorld) > least
        }?.time
      }
    }
    /// Removes all samples but the newest.
    func forget() { samples.withLock { $0.removeFirst(max(0, $0.count - 1)) } }
  }

  private func waitForTheTracker(_ failures: Failures) throws(CommandFailure) {
    for _ in 0..<1000 {
      if Signals.received != nil { throw .interrupted }
      if chain.poses.latestUse != nil { return }
      usleep(5000)
    }
    throw CommandFailure(
      failures.text.withLock { $0 }
        ?? "the renderer used no report from the virtual tracker within 5 s; try again")
  }

  func stop() {
    chain.stop()
    session.stop()
  }

  /// Turns the head in steps, alternately to the left and to the front. Then stops playback,
  /// recording and tracking.
  ///
  /// - Parameters:
  ///   - injected: the delay that the tracker adds in every second pair of steps, in ms; nil for
  ///     none.
  ///   - tell: receives the number of completed steps.
  func measure(
    steps count: Int, injected: Double?, tell: (Int) -> Void
  ) throws(CommandFailure) -> Result {
    defer { stop() }
    try pause(setting.warmUpSeconds)
    let depth = chain.output.queueMilliseconds
    (queue, queued) = ([], [])
    var steps: [Step] = []
    let span = 0.3 + 1e-3 * (max(depth, setting.queueMilliseconds ?? 0) + (injected ?? 0))
    for index in 0..<count {
      tell(index)
      let isDelayed = injected != nil && index / 2 % 2 == 1
      if let injected { try head.tell("hold \(isDelayed ? injected : 0)") }
      // Step at a random phase relative to the tracker's reports and the server's requests.
      try pause(Double.random(in: 0...0.05))
      let isToTheLeft = index % 2 == 0
      uses = []
      arrivals.forget()
      let sent = try head.turn(toYaw: isToTheLeft ? Self.angle : 0, meanwhile: look)
      try pause(span)
      let arrival = arrivals.turn(after: sent)
      let use = arrival.flatMap { arrival in uses.first { $0.arrival >= arrival } }
      steps.append(
        Step(
          sent: sent, end: monotonic_nanoseconds(), isToTheLeft: isToTheLeft,
          isDelayed: isDelayed, arrival: arrival, use: use))
      if let failure = capture.failure { throw CommandFailure(failure) }
    }
    let status = chain.output
    stop()
    let (sound, timeline) = try capture.finish()
    return Result(
      steps: steps, sound: sound, timeline: timeline, queue: queue, queued: queued, output: status,
      granted: depth, sampleRate: chain.sampleRate)
  }

  private func pause(_ seconds: Double) throws(CommandFailure) {
    let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
    while monotonic_nanoseconds() < end {
      if Signals.received != nil { throw .interrupted }
      look()
      usleep(1000)
    }
  }

  /// Stores the timing of the newest tracker sample that the renderer has used. About every 5 ms,
  /// also stores the latency and the queue length that the output reports.
  private func look() {
    if let use = chain.poses.latestUse, use != uses.last { uses.append(use) }
    let now = monotonic_nanoseconds()
    guard now - lastLook > 5_000_000 else { return }
    lastLook = now
    let output = chain.output
    if let latency = output.measuredLatencyMilliseconds { queue.append(latency) }
    if let depth = output.queuedMilliseconds { queued.append(depth) }
  }
}
