// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Loudness
internal import Media
internal import Rendering
package import Synchronization

/// A source at the loudness that is wished for.
///
/// The gain is set before the first sound by what is known then, and goes to where it should be at
/// 0.9 dB/s when more is known: from a scan on a thread of its own where the source can be opened
/// twice, else from what has been read. It stays through a seek.
package final class LevelledSource: SoundSource {
  let layout: ChannelLayout
  let sampleRate: Int
  var duration: Int? { source.duration }
  var title: String? { source.title }
  var warnings: [String] { source.warnings }
  var stream: (any StreamedSource)? { source.stream }

  /// What the player's other threads see and set.
  package final class Board: Sendable {
    package struct Content {
      /// LUFS.
      package var target: Double
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
  /// The first sound waits at most so long for the scan's first word.
  static let patienceMilliseconds = 400
  /// s of sound before a running measurement counts.
  private static let runningSeconds = 3
  /// Below this (-80 dBFS) nothing is heard.
  private static let silence: Float = 1e-4

  /// - Parameters:
  ///   - source: what is read, as it is rendered.
  ///   - stated: what it says of its own loudness.
  ///   - scan: of the same source; nil where it can be opened once only.
  ///   - meter: for the source's layout.
  ///   - target: LUFS.
  ///   - patienceMilliseconds: how long the first sound waits for the scan's first word.
  ///   - tell: called on the reading thread when another kind of knowledge counts, or the gain is
  ///     to move by more than 1 dB.
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
    if !hasBegun { scan?.wait(milliseconds: patienceMilliseconds) }
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

  // MARK: What is known

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
    // A step of 5 ms is at most 0.005 dB.
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
