// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS
@testable import Laboratory

/// Simulations with results that can be computed by hand.
@Suite struct SimulatorTests {
  /// A rule that always chooses the same rendition.
  private struct Fixed: AdaptationRule {
    let rendition: Int
    mutating func next(_ situation: PlaySituation) -> Int { rendition }
    mutating func record(_ timing: SegmentTiming, rendition: Int) {}
  }

  /// A rule that chooses the renditions of a list in turn, then repeats the last one.
  private struct Script: AdaptationRule {
    let renditions: [Int]
    private var count = 0
    init(_ renditions: [Int]) { self.renditions = renditions }
    mutating func next(_ situation: PlaySituation) -> Int {
      defer { count += 1 }
      return renditions[min(count, renditions.count - 1)]
    }
    mutating func record(_ timing: SegmentTiming, rendition: Int) {}
  }

  /// A rule that replaces one segment as soon as it is queued.
  private struct Replacing: AdaptationRule {
    let number: Int
    private var isDone = false
    init(_ number: Int) { self.number = number }
    mutating func next(_ situation: PlaySituation) -> Int { 0 }
    mutating func record(_ timing: SegmentTiming, rendition: Int) {}
    mutating func replacement(
      _ situation: PlaySituation, queue: [ReplaceableSegment]
    ) -> Replacement? {
      guard !isDone, queue.contains(where: { $0.number == number }) else { return nil }
      isDone = true
      return Replacement(number: number, rendition: 1)
    }
  }

  private let ladder = Ladder([
    Rendition(uri: "low", bitRate: 100_000, isMultichannel: false),
    Rendition(uri: "high", bitRate: 200_000, isMultichannel: true),
  ])

  private func conditions(
    isLive: Bool = true, _ change: (inout SimulationConditions) -> Void = { _ in }
  ) -> SimulationConditions {
    var conditions = SimulationConditions()
    conditions.segmentSeconds = 4
    conditions.isLive = isLive
    conditions.roundTripSeconds = 0.1
    conditions.seconds = 100
    change(&conditions)
    return conditions
  }

  private func run(
    _ rule: some AdaptationRule, _ kilobits: [Double], _ conditions: SimulationConditions
  ) -> (SimulationResult, AdaptationFigures) {
    let trace = BandwidthTrace(name: "test", kilobitsPerSecond: kilobits)
    var simulator = Simulator(
      trace: trace, ladder: ladder, rule: rule, conditions: conditions)
    let result = simulator.run()
    let figures = AdaptationFigures(
      result, trace: trace, ladder: ladder, seconds: conditions.seconds)
    return (result, figures)
  }

  /// 800 kbit at 400 kbit/s take 2 s, after three round trips of 0.1 s.
  @Test func theStartIsThePlaylistsAndASegment() {
    let (result, figures) = run(Fixed(rendition: 1), [400], conditions())
    #expect(abs((figures.startSeconds ?? .nan) - 2.3) < 1e-6)
    #expect(figures.stallPercent == 0 && figures.multichannelPercent == 100)
    #expect(figures.flipsPerMinute == 0 && figures.restoreSeconds == nil)
    #expect(result.heard.count == 1)
  }

  /// A live segment of 4 s takes 0.1 + 8 s to fetch, so 4.1 s of every 8.1 s are silent.
  @Test func aLineOfHalfTheRateStallsHalfTheTime() {
    let (result, figures) = run(
      Fixed(rendition: 1), [100], conditions { $0.seconds = 8.3 + 8.1 * 10 })
    #expect(abs(figures.stallPercent - 100 * 4.1 / 8.1) < 0.01)
    let stalls = result.heard.filter { $0.rendition == nil }
    #expect(stalls.count == 10 && stalls.allSatisfy { abs($0.seconds - 4.1) < 1e-6 })
    #expect(abs((figures.startSeconds ?? .nan) - 8.3) < 1e-6)
  }

  /// In a live presentation, no segment can be fetched before it exists: at most the first three
  /// segments are buffered.
  @Test func liveSegmentsAppearInRealTime() {
    let (result, _) = run(Fixed(rendition: 0), [10_000], conditions())
    for request in result.requests where request.segment > 2 {
      #expect(abs(request.time - Double(request.segment - 2) * 4) < 1e-6)
    }
    #expect(result.requests.map(\.segment) == Array(0..<27))
    #expect(result.buffer.allSatisfy { $0.seconds <= 12 })
  }

  @Test func aReloadedPlaylistShowsThemLater() {
    let (result, _) = run(Fixed(rendition: 0), [10_000], conditions { $0.reloadSeconds = 5 })
    // They exist at 4, 8, 12, 16, 20 s and are visible at 5, 10, 15, 20, 20 s.
    let times = result.requests.filter { (3...7).contains($0.segment) }.map(\.time)
    for (time, expected) in zip(times, [5, 10, 15, 20, 20.2]) {
      #expect(abs(time - expected) < 0.1)
    }
  }

  @Test func onDemandTheBufferFillsToItsLimit() {
    let limited = conditions(isLive: false) { $0.bufferSeconds = 20 }
    let (result, figures) = run(Fixed(rendition: 0), [1000], limited)
    // A segment takes 0.4 s, is requested below 20 s and adds 4 s.
    #expect(result.buffer.map(\.seconds).max() ?? 0 <= 24)
    #expect(result.buffer.last.map { $0.seconds >= 19 } ?? false)
    #expect(figures.stallPercent == 0)
  }

  @Test func flipsAndSharesAreCounted() {
    let script = Script(Array(repeating: 1, count: 5) + Array(repeating: 0, count: 5) + [1])
    let (_, figures) = run(script, [10_000], conditions())
    // 20 s, 20 s and the rest in multichannel: two flips in 99.6 s.
    let start = 0.3 + 0.08
    #expect(abs(figures.flipsPerMinute - 2 / ((100 - start) / 60)) < 0.01)
    #expect(abs(figures.multichannelPercent - 100 * (80 - start) / (100 - start)) < 0.1)
    // The line was good throughout, so all stereo counts as waiting.
    #expect(abs((figures.restoreSeconds ?? 0) - 20) < 1e-6)
  }

  /// The line is good from 30 s on, and multichannel returns 10 s later; 5 s of a good line before
  /// that do not count.
  @Test func restoringCountsOnlyReliablyGoodTime() {
    let line =
      [Double](repeating: 150, count: 15) + [Double](repeating: 900, count: 5)
      + [Double](repeating: 150, count: 10) + [Double](repeating: 900, count: 70)
    let heard = [
      HeardStretch(start: 0, seconds: 10, rendition: 1),
      HeardStretch(start: 10, seconds: 2, rendition: nil),
      HeardStretch(start: 12, seconds: 28, rendition: 0),
      HeardStretch(start: 40, seconds: 60, rendition: 1),
    ]
    var result = SimulationResult()
    result.heard = heard
    let trace = BandwidthTrace(name: "test", kilobitsPerSecond: line)
    let figures = AdaptationFigures(result, trace: trace, ladder: ladder, seconds: 100)
    #expect(abs((figures.restoreSeconds ?? 0) - 10) < 1e-9)
    #expect(figures.stallPercent == 2 && figures.multichannelPercent == 70)
    #expect(abs(figures.flipsPerMinute - 2 / (100.0 / 60)) < 1e-9)
  }

  @Test func aReplacedSegmentIsHeardFromWhereItIsInTime() {
    let (result, _) = run(Replacing(2), [1000], conditions { $0.decodedSeconds = 2.5 })
    // Segment 2 plays from 8 s of the presentation on, and its replacement arrives long before.
    let kinds = result.heard.map(\.rendition)
    #expect(kinds == [0, 1, 0])
    #expect(abs(result.heard[1].seconds - 4) < 1e-6)
    #expect(result.wastedBits == 0)
  }

  @Test func aReplacementWithinASegmentTakesOverBehindWhatIsDecoded() {
    // 800 kbit at 300 kbit/s and the round trip take 2.77 s. With 0.5 s decoded, the replacement
    // starts 3.27 s into the segment; with 2.5 s decoded, it is too late.
    let (result, _) = run(Replacing(0), [300], conditions { $0.decodedSeconds = 0.5 })
    #expect(result.heard.first?.rendition == 0 && result.heard[1].rendition == 1)
    #expect(abs(result.heard[0].seconds - (0.1 + 800.0 / 300 + 0.5)) < 1e-6)
    #expect(abs(result.heard[0].seconds + result.heard[1].seconds - 4) < 1e-6)
    let (late, _) = run(Replacing(0), [300], conditions { $0.decodedSeconds = 2.5 })
    #expect(late.heard.allSatisfy { $0.rendition != 1 })
    #expect(late.wastedBits == 800_000)
  }

  @Test func whatIsHeardHasNoGapsAndIsNeverAheadOfWhatCame() {
    for rule in ComparedRule.allCases {
      for trace in BandwidthTrace.builtIn {
        let result = rule.simulate(trace, .bench)
        var time = result.startSeconds ?? 0
        for stretch in result.heard {
          #expect(abs(stretch.start - time) < 1e-6)
          time += stretch.seconds
        }
        #expect(abs(time - 600) < 1e-6)
        let played = result.heard.filter { $0.rendition != nil }.reduce(0) { $0 + $1.seconds }
        #expect(played <= 600 + 3 * 3.84)
        #expect(result.buffer.allSatisfy { $0.seconds >= 0 && $0.seconds < 12 + 3.85 })
        #expect(result.wastedBits <= result.fetchedBits)
      }
    }
  }
}
