// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

/// Turns the head at a constant rate for some seconds, and analyses the recording of the sink's
/// monitor.
struct RewriteRun {
  struct Settings {
    var seconds = 3.0
    /// Turns per second.
    var rate = 100.0
    /// Time until the first turn [ms].
    var settle = 1200
    /// The sink whose monitor is recorded; nil for the default sink.
    var monitor: String?
    var fragment = 5.0
    /// Whether to time the recording by its arrival, because the server's capture times are off by
    /// milliseconds.
    var usesArrivalTimes = false
  }

  /// Times from a turn to its first frame at the sink [ms], ascending.
  let delays: [Double]
  /// The number of turns that were never audible.
  let missed: Int
  /// How early each presentation time of a rewrite was [ms], ascending.
  let timeErrors: [Double]
  let jumps: [(from: Int, to: Int)]
  /// The number of silent runs within the sound.
  let gaps: Int
  /// The number of silent frames within the sound.
  let silentFrames: Int
  /// The number of frames whose version no rewrite wrote there.
  let strayFrames: Int
  let status: AudioOutputStatus
  let queueDepths: [Double]
  let wrongCalls: Int
  /// Share of one core that the test program uses: output, source and capture.
  let processorShare: Double

  var median: Double { delays.isEmpty ? .infinity : delays[delays.count / 2] }
  /// Whether there is no gap and no underrun, and the missed turns are at most 5 % of the audible
  /// ones.
  var isUnbroken: Bool { gaps == 0 && status.underruns == 0 && missed <= delays.count / 20 }
  var p95: Double { delays.isEmpty ? .infinity : delays[delays.count * 95 / 100] }

  init(
    _ configuration: AudioOutputConfiguration, _ settings: Settings = Settings(),
    source: VersionedSource = VersionedSource(),
    during: (any AudioOutput, Double) throws -> Void = { _, _ in }
  ) throws {
    let (audio, capture) = try capture(
      configuration.serverAddress ?? "", sink: settings.monitor, fragment: settings.fragment)
    let output = try PulseOutput(configuration, render: source.callback)
    defer { output.stop() }
    try output.start()
    sleepMilliseconds(settings.settle)
    var depths: [Double] = []
    let begun = monotonicNow()
    let processorTime = Self.processorSeconds()
    var next = begun
    while Double(monotonicNow() - begun) < settings.seconds * 1e9 {
      source.turn()
      output.refresh()
      if let depth = output.status.measuredLatencyMilliseconds { depths.append(depth) }
      try during(output, Double(monotonicNow() - begun) / 1e9)
      next += Int64(Double.random(in: 0.9...1.1) * 1e9 / settings.rate)
      while monotonicNow() < next { sleepMilliseconds(1) }
    }
    processorShare =
      (Self.processorSeconds() - processorTime) / (Double(monotonicNow() - begun) / 1e9)
    sleepMilliseconds(400)
    capture.stop()
    status = output.status
    queueDepths = depths.sorted()
    wrongCalls = source.wrongCalls.load(ordering: .relaxed)
    let heard = HeardVersions(audio, byArrival: settings.usesArrivalTimes)
    jumps = heard.jumps
    gaps = heard.gaps
    silentFrames = heard.silentFrames
    (delays, missed) = heard.delays(of: source)
    timeErrors = heard.timeErrors(of: source)
    strayFrames = heard.strayFrames(of: source)
  }

  /// Checks the conditions that apply to every run.
  func checkIntegrity(quantum: Int? = nil) {
    #expect(strayFrames == 0)
    #expect(wrongCalls == 0)
    // PipeWire's graph drops complete quanta on a busy machine.
    #expect(
      jumps.allSatisfy { jump in
        quantum.map { jump.to > jump.from && (jump.to - jump.from - 1) % $0 == 0 } ?? false
      }, "\(jumps.prefix(4))")
  }

  /// Tries up to three times, because a busy machine stalls the server too.
  static func upToThree(
    _ run: () throws -> RewriteRun, until isGood: (RewriteRun) -> Bool
  ) throws -> RewriteRun {
    var last = try run()
    for _ in 0..<2 where !isGood(last) {
      recordRetry("the server stalled")
      last = try run()
    }
    let isGoodAtLast = isGood(last)
    #expect(isGoodAtLast)
    return last
  }

  private static func processorSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }

  func report(_ name: String) {
    let slowest = delays.last ?? .nan
    let early = timeErrors.isEmpty ? .nan : timeErrors[timeErrors.count / 20]
    let late = timeErrors.isEmpty ? .nan : timeErrors[timeErrors.count * 95 / 100]
    print(
      "\(name): heard \(delays.count), p50 \(median), p95 \(p95), max \(slowest) ms;",
      "missed \(missed);",
      "rewrites \(status.rewrites), late \(status.lateRewrites), lost \(status.lostRewriteHeads);",
      "margin \(status.rewriteMarginMilliseconds), latency p50",
      "\(queueDepths.isEmpty ? -1 : queueDepths[queueDepths.count / 2]) ms;",
      "time error p5 \(early) p95 \(late) ms;",
      "jumps \(jumps.count) \(jumps.prefix(3)), gaps \(gaps) (\(silentFrames) frames),",
      "strays \(strayFrames),",
      "processor \((processorShare * 1000).rounded() / 10) %,",
      "underruns \(status.underruns), wrong calls \(wrongCalls)")
  }
}

/// A recording of a `VersionedSource`.
struct HeardVersions {
  /// The version code of each frame and the time at which it was played [ns]; nil if it was not.
  private var heard: [(code: Int, time: Int64)?] = []
  private(set) var jumps: [(from: Int, to: Int)] = []
  private(set) var gaps = 0
  private(set) var silentFrames = 0

  init(_ captured: CapturedAudio, byArrival: Bool) {
    let samples = captured.samples
    var last: Int?
    var isSilent = true
    var silence = 0
    let arrivals = ArrivalTimes(captured.fragments)
    for (index, fragment) in captured.fragments.enumerated() {
      let time = byArrival ? arrivals[index] : fragment.captureTimeNanoseconds ?? 0
      for i in 0..<fragment.frameCount {
        let frame = fragment.firstFrame + i
        guard let number = VersionedSource.number(samples[2 * frame]) else {
          isSilent = true
          silence += 1
          continue
        }
        if last != nil, isSilent {
          gaps += 1
          silentFrames += silence
        }
        isSilent = false
        silence = 0
        if let last, number != last + 1 { jumps.append((from: last, to: number)) }
        last = number
        guard number >= 0, number < 1 << 23 else { continue }
        while heard.count <= number { heard.append(nil) }
        heard[number] = (
          VersionedSource.code(samples[2 * frame + 1]), time + Int64(i) * 1_000_000 / 48
        )
      }
    }
  }

  private func firstHeard(_ piece: VersionedSource.Piece) -> Int? {
    let code = VersionedSource.code(version: piece.version)
    let end = min(piece.start + piece.count, heard.count)
    return (min(piece.start, end)..<end).first { heard[$0]?.code == code }
  }

  func delays(of source: VersionedSource) -> (delays: [Double], missed: Int) {
    var first: [Int: Int64] = [:]
    for piece in source.pieces {
      guard let frame = firstHeard(piece), let time = heard[frame]?.time, time > 0 else { continue }
      first[piece.version] = min(first[piece.version] ?? .max, time)
    }
    let turns = source.wanted.load(ordering: .relaxed)
    let delays = first.map { Double($0.value - source.turnTime($0.key)) / 1e6 }
    return (delays.sorted(), turns - first.count)
  }

  func timeErrors(of source: VersionedSource) -> [Double] {
    source.pieces.compactMap {
      guard $0.start < heard.count, let frame = heard[$0.start], frame.time > 0 else { return nil }
      return Double(frame.time - $0.presentationTime) / 1e6
    }.sorted()
  }

  /// Returns the number of frames whose version belongs to no piece that covers them.
  func strayFrames(of source: VersionedSource) -> Int {
    var allowed: [Int: Set<Int>] = [:]
    for piece in source.pieces {
      for block in piece.start / 64...(piece.start + piece.count) / 64 {
        allowed[block, default: [0]].insert(VersionedSource.code(version: piece.version))
      }
    }
    return heard.indices.count { frame in
      guard let code = heard[frame]?.code else { return false }
      return !(allowed[frame / 64] ?? [0]).contains(code)
    }
  }
}

/// Estimates when the fragments of a recording arrived, without the delays of a busy machine.
/// Frames are recorded at a constant rate, so the earliest arrivals nearby determine the times.
private struct ArrivalTimes {
  private static let neighbours = 100
  private let offsets: [Int64]
  private let fragments: [CapturedAudio.Fragment]

  init(_ fragments: [CapturedAudio.Fragment]) {
    self.fragments = fragments
    offsets = fragments.map { $0.arrivalTimeNanoseconds - Int64($0.firstFrame) * 125_000 / 6 }
  }

  subscript(index: Int) -> Int64 {
    let near = max(0, index - Self.neighbours)..<min(offsets.count, index + Self.neighbours)
    let soonest = offsets[near].sorted()[near.count / 20]
    return soonest + Int64(fragments[index].firstFrame) * 125_000 / 6
  }
}
