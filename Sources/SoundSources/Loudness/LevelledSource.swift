// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Loudness
internal import Media
internal import Rendering
package import Synchronization

/// A source that brings another source to a target loudness.
///
/// Before the first sound, a new gain applies at once; later, the gain changes at 0.9 dB/s. The
/// loudness of the source is derived from a scan, from the loudness that the source states, or from
/// the frames read so far. Before any of these is available, a loudness of -14 LUFS is assumed.
package final class LevelledSource: SoundSource {
  let layout: ChannelLayout
  let sampleRate: Int
  var duration: Int? { source.duration }
  var title: String? { source.title }
  var warnings: [String] { source.warnings }
  var stream: (any StreamedSource)? { source.stream }

  /// The state that other threads read and set.
  package final class Board: Sendable {
    package struct Content {
      /// The target loudness, in LUFS.
      package var target: Double
      /// The latest report; nil before the first read.
      package var report: LoudnessReport?
    }
    package let content: Mutex<Content>
    init(target: Double) { content = Mutex(Content(target: target)) }
  }

  package let board: Board
  private let source: any SoundSource
  package let scan: LoudnessScan?
  private let meter: EarMeter
  private let tell: (LoudnessReport) -> Void
  private let statedOrigin: StatedLoudness.Origin?
  private var evidence = LoudnessEvidence()
  private var planner = GainPlanner()
  private var isScanned = false
  private var hasBegun = false
  private var judgedFrames = 0
  private var told: LoudnessReport?
  private let patienceMilliseconds: Int
  /// How long the first read may wait, by default, for a good estimate from the scan.
  static let patienceMilliseconds = 150
  /// How much longer the first read may wait if there is no estimate at all.
  private static let extraPatienceMilliseconds = 250
  /// How many seconds of the sound must have been measured before the measurement is used.
  private static let runningSeconds = 3
  /// The largest magnitude of a silent sample: -80 dBFS.
  private static let silence: Float = 1e-4

  /// Creates a levelled source.
  ///
  /// - Parameters:
  ///   - source: the prepared source.
  ///   - target: the target loudness, in LUFS.
  ///   - patienceMilliseconds: how long the first read may wait for a good estimate from the scan.
  ///   - tell: receives a report at the first read, when the origin of the loudness changes, and
  ///     when the goal differs from the last reported goal by more than 1 dB.
  init(
    _ source: any SoundSource, stated: StatedLoudness?, scan: LoudnessScan?, meter: EarMeter,
    target: Double, patienceMilliseconds: Int = LevelledSource.patienceMilliseconds,
    tell: @escaping (LoudnessReport) -> Void
  ) {
    self.patienceMilliseconds = patienceMilliseconds
    self.source = source
    self.scan = scan
    self.meter = meter
    self.tell = tell
    layout = source.layout
    sampleRate = source.sampleRate
    board = Board(target: target)
    statedOrigin = stated?.origin
    evidence.statement = stated.map {
      .init(loudness: $0.loudness, needsAgreement: $0.isNominal)
    }
  }

  deinit { scan?.stop() }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    if !hasBegun {
      scan?.wait(
        milliseconds: patienceMilliseconds, extraMilliseconds: Self.extraPatienceMilliseconds)
    }
    hasBegun = true
    let count = try source.read(into: planes, frames: frames)
    learn(UnsafePointer(planes), count)
    apply(to: planes, count)
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    try source.seek(toFrame: frame)
    meter.cut()
  }

  // MARK: Evidence

  private func learn(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int
  ) {
    if let scan, !isScanned {
      let state = scan.current
      isScanned = state.isDone && state.measurement != nil
      evidence.scan = state.measurement
    }
    if evidence.scan == nil {
      meter.add(planes, frames: count)
      let isTime = meter.frames >= max(judgedFrames + sampleRate, Self.runningSeconds * sampleRate)
      if isTime {
        judgedFrames = meter.frames
        evidence.running = meter.measurement
      }
    }
    aim()
  }

  private func aim() {
    let knowledge = evidence.knowledge
    let target = board.content.withLock { $0.target }
    planner.aim(at: LoudnessTarget(loudness: target).gain(for: knowledge))
    let report = LoudnessReport(
      gain: planner.gain, goal: planner.goal, origin: knowledge.origin,
      statement: knowledge.origin == .metadata ? statedOrigin : nil,
      loudness: knowledge.loudness)
    board.content.withLock { $0.report = report }
    let isNews = told.map { $0.origin != report.origin || abs($0.goal - report.goal) > 1 } ?? true
    guard isNews else { return }
    told = report
    tell(report)
  }

  // MARK: The gain

  private func apply(
    to planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) {
    // The gain changes by at most 0.005 dB per step of 5 ms.
    let step = max(1, sampleRate / 200)
    for start in stride(from: 0, to: frames, by: step) {
      let count = min(step, frames - start)
      let isSilent = !planner.hasSounded && isSilent(planes, start, count)
      let gains = planner.advance(
        seconds: Double(count) / Double(sampleRate), isSilent: isSilent)
      guard gains != (1, 1) else { continue }
      let slope = (gains.end - gains.start) / Float(count)
      for channel in 0..<layout.channelCount {
        let plane = planes[channel] + start
        for i in 0..<count { plane[i] *= gains.start + slope * Float(i) }
      }
    }
  }

  private func isSilent(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ start: Int, _ count: Int
  ) -> Bool {
    for channel in 0..<layout.channelCount {
      for i in start..<start + count where abs(planes[channel][i]) > Self.silence { return false }
    }
    return true
  }
}
