// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import Laboratory
import PulseAudio

/// What `bench latency` found for one setting; all in milliseconds.
struct ChainFigures: Codable {
  var setting: LatencySetting
  var steps: Int
  /// Steps that could not be read from the recording, because sound was lost around them.
  var unreadableSteps: Int
  /// From the tracker's report to the recording being half there: the latency.
  var latency: Distribution?
  /// To the first tenth of the turn, and until the turn is complete to a tenth.
  var begin: Distribution?
  var settled: Distribution?
  var stages: StageFigures
  /// From writing to hearing as the server reported it during the run: queue and sink.
  var queue: Distribution?
  /// Of that what was in the queue itself and could be written over.
  var queued: Distribution?
  var grantedQueueMilliseconds: Double
  var underruns: Int
  /// Whether the output wrote over what was queued, at the end: "active", or why not.
  var rewriting: String
  /// Pieces of the queue that were rendered again, and of those that came too late or lost their
  /// head.
  var rewrites: Int
  var lateRewrites: Int
  var lostRewriteHeads: Int
  /// How far ahead of what is heard the queue was written over at the end.
  var rewriteMarginMilliseconds: Double
  var capture: CaptureCheck
  /// Of the delay injected on purpose; nil where none was.
  var injected: InjectedDelay?
  /// All latencies, in the order of the steps.
  var latencies: [Double]
}

/// A delay that the bench put in itself, and what it found of it.
struct InjectedDelay: Codable {
  var milliseconds: Double
  /// Difference of the mean latencies of the steps with and without it, at the same wait for the
  /// audio thread (analysis of covariance): that wait scatters most, and has nothing to do with the
  /// delay.
  var foundMilliseconds: Double
  /// Standard error of that difference.
  var uncertaintyMilliseconds: Double
}

/// Where the time between report and sound goes; ms.
struct StageFigures: Codable {
  /// From the tracker's handing over to the report being read.
  var report: Distribution?
  /// Decoding, orientation filter and forecast.
  var fusion: Distribution?
  /// Until the audio thread asks for a pose.
  var wait: Distribution?
  /// From there to the moment for which it asks: queue and sink as announced, or the margin of a
  /// rewrite.
  var queue: Distribution?
  /// From that moment to the begin of the turn in the recording: what the announcement is off by,
  /// and how the pose sets off.
  var begin: Distribution?
  /// From the begin to the half of the turn: the time that a sudden turn is given so that it makes
  /// no click.
  var turn: Distribution?

  /// The rows of tables.
  var rows: [(name: String, values: Distribution?)] {
    [
      ("report read", report), ("fusion", fusion), ("wait for audio thread", wait),
      ("queue and sink", queue), ("begin of turn", begin), ("half of turn", turn),
    ]
  }
}

extension ChainFigures {
  init(
    _ setting: LatencySetting, _ result: LatencyRun.Result, ahead: EarSound, left: EarSound,
    capture: CaptureCheck, injected: Double?
  ) {
    let finder = TurnFinder(sampleRate: Double(result.sampleRate))
    var offset: Double?
    let read = result.steps.map { step -> ReadStep? in
      let turn = Self.turn(
        step, result, finder, step.isToTheLeft ? ahead : left,
        step.isToTheLeft ? left : ahead, near: offset)
      if let turn { offset = turn.after.offset }
      return turn.map { ReadStep(step, $0, result.timeline) }
    }
    let plain = read.compactMap { $0 }.filter { !$0.step.isDelayed }
    self.setting = setting
    steps = result.steps.count
    unreadableSteps = read.count { $0 == nil }
    latency = Distribution(plain.map(\.half))
    begin = Distribution(plain.map(\.begin))
    settled = Distribution(plain.map(\.settled))
    stages = StageFigures(plain)
    queue = Distribution(result.queue)
    queued = Distribution(result.queued)
    rewriting = result.output.rewriting.name
    grantedQueueMilliseconds = result.granted
    underruns = result.output.underruns
    rewrites = result.output.rewrites
    lateRewrites = result.output.lateRewrites
    lostRewriteHeads = result.output.lostRewriteHeads
    rewriteMarginMilliseconds = result.output.rewriteMarginMilliseconds
    self.capture = capture
    latencies = plain.map(\.half)
    self.injected = injected.flatMap {
      InjectedDelay($0, plain, read.compactMap { $0 }.filter(\.step.isDelayed))
    }
  }

  private static func turn(
    _ step: LatencyRun.Step, _ result: LatencyRun.Result, _ finder: TurnFinder, _ first: EarSound,
    _ second: EarSound, near offset: Double?
  ) -> TurnFinder.Turn? {
    // 60 ms before the step belong to it, and nothing of the next one.
    let start = result.timeline.frame(at: Double(step.sent) - 60e6)
    let end = result.timeline.frame(at: Double(step.end))
    guard start < end else { return nil }
    return finder.turn(
      in: result.sound, start..<min(end, result.sound.frames), from: first, to: second, near: offset
    )
  }
}

/// A step with its turn, ms after the report.
struct ReadStep {
  let step: LatencyRun.Step
  let begin: Double
  let half: Double
  let settled: Double

  /// From the report being read to the renderer's question, ms.
  var wait: Double? {
    guard let arrival = step.arrival, let use = step.use else { return nil }
    return Double(use.used - arrival) * 1e-6
  }

  init(_ step: LatencyRun.Step, _ turn: TurnFinder.Turn, _ timeline: CaptureTimeline) {
    self.step = step
    func after(_ frame: Double) -> Double {
      (timeline.time(ofFrame: frame) - Double(step.sent)) * 1e-6
    }
    begin = after(turn.begin)
    half = after(turn.half)
    settled = after(turn.settled)
  }
}

extension StageFigures {
  init(_ steps: [ReadStep]) {
    struct Stations {
      let step: ReadStep
      let sent, arrival: Int64
      let use: SampleUse
      /// A report that was taken together with a later one was ready as soon after it was read.
      var ready: Int64 { arrival + use.ready - use.arrival }
    }
    let all = steps.compactMap { step -> Stations? in
      guard let arrival = step.step.arrival, let use = step.step.use else { return nil }
      return Stations(step: step, sent: step.step.sent, arrival: arrival, use: use)
    }
    func spread(_ value: (Stations) -> Double) -> Distribution? { Distribution(all.map(value)) }
    func milliseconds(_ from: Int64, _ to: Int64) -> Double { Double(to - from) * 1e-6 }
    report = spread { milliseconds($0.sent, $0.arrival) }
    fusion = spread { milliseconds($0.arrival, $0.ready) }
    wait = spread { milliseconds($0.ready, $0.use.used) }
    queue = spread { milliseconds($0.use.used, $0.use.heard) }
    begin = spread { $0.step.begin - milliseconds($0.sent, $0.use.heard) }
    turn = spread { $0.step.half - $0.step.begin }
  }
}

extension InjectedDelay {
  /// Nil where there are not enough steps of both kinds.
  fileprivate init?(_ milliseconds: Double, _ plain: [ReadStep], _ delayed: [ReadStep]) {
    let groups = [plain, delayed].map { steps in
      steps.compactMap { step in step.wait.map { (wait: $0, latency: step.half) } }
    }
    guard let found = GroupDifference(groups[0], groups[1]) else { return nil }
    self.milliseconds = milliseconds
    foundMilliseconds = found.difference
    uncertaintyMilliseconds = found.uncertainty
  }
}
