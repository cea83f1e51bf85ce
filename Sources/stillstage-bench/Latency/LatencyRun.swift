// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Laboratory
import Playback
import PulseAudio
import Rendering
import SoundSources
import Synchronization

/// Plays the bench's noise through the engine of `play` and lets the virtual head step to and fro,
/// while the sink is recorded.
final class LatencyRun {
  /// A step of the head.
  struct Step {
    /// When the first report of it was handed over, CLOCK_MONOTONIC [ns].
    var sent: Int64
    /// From which on the head is about to step again.
    var end: Int64 = 0
    var isToTheLeft: Bool
    var isDelayed: Bool
    /// When the first report that shows it was read, CLOCK_MONOTONIC [ns].
    var arrival: Int64?
    /// How the renderer took it, or one that came soon after and was taken with it.
    var use: SampleUse?
  }

  /// What was measured, before it is read.
  struct Result {
    var steps: [Step]
    var sound: EarSound
    var timeline: CaptureTimeline
    /// Of the server's queue and sink as reported, ms, over the run.
    var queue: [Double]
    /// Of that what is in the queue itself and can be written over.
    var queued: [Double]
    /// At the end of the run.
    var output: AudioOutputStatus
    var granted: Double
    var sampleRate: Int
  }

  /// Degrees that the head turns by.
  static let angle = 90.0
  private let setting: LatencySetting
  private let head: VirtualHead
  private let source = HeadPoseSource()
  private let session: TrackerSession
  private let player: Player
  private let capture: TimedCapture
  private let arrivals: Arrivals
  private var queue: [Double] = []
  private var queued: [Double] = []
  private var uses: [SampleUse] = []
  private var lastLook: Int64 = 0

  /// - Parameter recorded: the source to record; nil for the sink's monitor.
  init(
    _ setting: LatencySetting, on server: LatencyServer, source recorded: String?,
    head: VirtualHead
  ) throws(CommandFailure) {
    self.setting = setting
    self.head = head
    // What is measured may take minutes, and the front must not follow the head.
    source.takesDriftBack = false
    let failures = Failures()
    let arrivals = Arrivals()
    self.arrivals = arrivals
    session = TrackerSession(
      .automatic, feeding: source, onEvent: failures.hear, record: arrivals.hear)
    let options = setting.playerOptions(server: server.address, sink: server.sink, head: source)
    player = try playing { () throws(PlaybackError) in
      try Player(options: options) { rate throws(PlaybackError) in BenchNoise(sampleRate: rate) }
    }
    capture = try TimedCapture(
      server: server.address, sink: server.sink, source: recorded, sampleRate: player.sampleRate,
      timing: server.timing)
    try head.tell("hold 0")
    try head.tell("pose 0 0 0")
    session.start()
    do throws(CommandFailure) {
      try playing { () throws(PlaybackError) in try player.start() }
      try waitForTheTracker(failures)
    } catch {
      stop()
      throw error
    }
  }

  /// Whoever listens to the tracker's events.
  private final class Failures: Sendable {
    let text = Mutex<String?>(nil)
    func hear(_ event: TrackerEvent) {
      if case .failed(let error) = event { text.withLock { $0 = error.description } }
    }
  }

  /// When reports were read, and what they said.
  private final class Arrivals: Sendable {
    private let samples = Mutex<[HeadSample]>([])
    func hear(_ measurement: TrackerMeasurement) {
      samples.withLock { $0.append(measurement.head) }
    }
    /// The first report that shows a turn from where the head was before a moment.
    func turn(after time: Int64) -> Int64? {
      samples.withLock { samples in
        guard let before = samples.last(where: { $0.time < time })?.headToWorld else { return nil }
        let least = LatencyRun.angle / 2 * .pi / 180
        return samples.first {
          $0.time >= time && Quaternion.angle(between: before, $0.headToWorld) > least
        }?.time
      }
    }
    /// All but the newest.
    func forget() { samples.withLock { $0.removeFirst(max(0, $0.count - 1)) } }
  }

  private func waitForTheTracker(_ failures: Failures) throws(CommandFailure) {
    for _ in 0..<1000 {
      if Signals.received != nil { throw .interrupted }
      if source.latestUse != nil { return }
      usleep(5000)
    }
    throw CommandFailure(
      failures.text.withLock { $0 } ?? "the virtual tracker's reports do not arrive; try again")
  }

  func stop() {
    player.stop()
    session.stop()
  }

  /// - Parameters:
  ///   - count: steps.
  ///   - injected: ms by which every second step is held back in the tracker; nil: none.
  ///   - tell: hears how many are done.
  func measure(
    steps count: Int, injected: Double?, tell: (Int) -> Void
  ) throws(CommandFailure) -> Result {
    defer { stop() }
    try pause(setting.warmUpSeconds)
    let depth = player.status.output.queueMilliseconds
    (queue, queued) = ([], [])
    var steps: [Step] = []
    let span = 0.3 + 1e-3 * (max(depth, setting.queueMilliseconds ?? 0) + (injected ?? 0))
    for index in 0..<count {
      tell(index)
      let isDelayed = injected != nil && index / 2 % 2 == 1
      if let injected { try head.tell("hold \(isDelayed ? injected : 0)") }
      // The phase of the step to the tracker's reports and to the server's requests is left to
      // chance.
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
    let status = player.status.output
    stop()
    let (sound, timeline) = try capture.finish()
    return Result(
      steps: steps, sound: sound, timeline: timeline, queue: queue, queued: queued, output: status,
      granted: depth, sampleRate: player.sampleRate)
  }

  private func pause(_ seconds: Double) throws(CommandFailure) {
    let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
    while monotonic_nanoseconds() < end {
      if Signals.received != nil { throw .interrupted }
      look()
      usleep(1000)
    }
  }

  /// Notes what changes while the sound goes on.
  private func look() {
    if let use = source.latestUse, use != uses.last { uses.append(use) }
    let now = monotonic_nanoseconds()
    guard now - lastLook > 5_000_000 else { return }
    lastLook = now
    let output = player.status.output
    if let latency = output.measuredLatencyMilliseconds { queue.append(latency) }
    if let depth = output.queuedMilliseconds { queued.append(depth) }
  }
}
