// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import Laboratory
import SoundServer

/// The results of `bench latency` for one setting. Times are in milliseconds. `latency`, `begin`,
/// `settled` and `stages` do not include the steps with an injected delay.
struct ChainFigures: Codable {
  var setting: LatencySetting
  var steps: Int
  /// The number of steps whose turns were not found in the recording.
  var unreadableSteps: Int
  /// Time from the tracker report to the midpoint of the turn in the recording.
  var latency: Distribution?
  /// Time from the tracker report until a tenth of the turn is complete.
  var begin: Distribution?
  /// Time from the tracker report to the moment from which the progress of the turn stays between
  /// 0.9 and 1.1.
  var settled: Distribution?
  var stages: StageFigures
  /// Latency of queue and sink during the run, as reported by the server or, on PipeWire,
  /// estimated.
  var queue: Distribution?
  /// Length of the queue, or of PipeWire's cycle, that the server reported during the run.
  var queued: Distribution?
  var grantedQueueMilliseconds: Double
  var underruns: Int
  /// The state of rewriting at the end of the run.
  var rewriting: String
  /// The number of windows of the queue that were rewritten.
  var rewrites: Int
  /// The number of windows that were rendered too late to be written.
  var lateRewrites: Int
  /// The number of rewritten windows whose start is known to have arrived too late.
  var lostRewriteHeads: Int
  /// Time from the heard sound to the earliest sound that can be rewritten, at the end of the run.
  var rewriteMarginMilliseconds: Double
  var capture: CaptureCheck
  /// The result for the injected delay; nil if no delay was injected, or if too few steps were
  /// measured.
  var injected: InjectedDelay?
  /// The values of `latency`, in the order of the steps.
  var latencies: [Double]
}

/// A delay that the bench injected, and the delay that it measured.
struct InjectedDelay: Codable {
  var milliseconds: Double
  /// Mean latency of the steps with the delay minus that of the steps without it, corrected for
  /// `ReadStep.wait` [analysis of covariance].
  var foundMilliseconds: Double
  /// The standard error of `foundMilliseconds`.
  var uncertaintyMilliseconds: Double
}

/// The stages of the time between report and sound, in ms.
struct StageFigures: Codable {
  /// The time from the sending to the reading of the report.
  var report: Distribution?
  /// The time from the reading of the report to the finished sample.
  var fusion: Distribution?
  /// The time from the finished sample to the audio thread's request for a pose.
  var wait: Distribution?
  /// The time from the request for a pose to the moment at which the sound rendered with that pose
  /// is expected to be heard.
  var queue: Distribution?
  /// The time from the end of the stage `queue`, when the sound is expected to be heard, to the
  /// beginning of the turn in the recording.
  var begin: Distribution?
  /// The time from the beginning to the midpoint of the turn in the recording.
  var turn: Distribution?

  /// The stages with their names, in the order of the table.
  var rows: [(name: String, values: Distribution?)] {
    [
      ("report read", report), ("fusion", fusion), ("wait for audio thread", wait),
      ("queue and sink", queue), ("start of turn", begin), ("midpoint of turn", turn),
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
    // The stretch starts 60 ms before the step and ends before the next step.
    let start = result.timeline.frame(at: Double(step.sent) - 60e6)
    let end = result.timeline.frame(at: Double(step.end))
    guard start < end else { return nil }
    return finder.turn(
      in: result.sound, start..<min(end, result.sound.frames), from: first, to: second, near: offset
    )
  }
}

/// A step and the times of its turn, in ms after the report was sent.
struct ReadStep {
  let step: LatencyRun.Step
  let begin: Double
  let half: Double
  let settled: Double

  /// Time from the reading of the report to the renderer's request for a pose, in ms; nil if either
  /// is unknown.
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
      /// The time at which the report's sample was finished. If the renderer used a later report
      /// instead, both are assumed to have the same processing time.
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
  /// Compares the delayed steps with the undelayed ones; nil if a group has fewer than four steps
  /// with a known `wait`.
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
