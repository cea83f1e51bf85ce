// SPDX-License-Identifier: Apache-2.0

/// A rule that chooses a rendition from a ladder for each segment (docs/adaptation.md). It prefers
/// multichannel, and changes to stereo when the throughput is too low.
public struct RenditionChoice: AdaptationRule, Equatable {
  enum Treatment: Equatable {
    case undecided
    case multichannel
    case stereo
  }

  public let ladder: Ladder
  public let parameters: RenditionChoiceParameters
  public private(set) var history = ThroughputHistory()
  /// The latest change of treatment; nil if there was none.
  public internal(set) var lastChange: TreatmentChange?
  var treatment = Treatment.undecided
  /// The last chosen rendition; nil before the first choice.
  var current: Int?
  /// Time at which the current series of downloads at `recoveredRate` or faster began, in s; nil if
  /// there is no such series. A slower download, a change to stereo, or a test that shows too low a
  /// throughput ends a series.
  var recoveredSince: Double?
  /// Time for which a throughput ratio of `recovery` must last before a return to multichannel, in
  /// s. It becomes longer if multichannel lasts only briefly after the return.
  var hold: Double
  var returnedAt: Double?
  /// Time at which a lower multichannel rendition was last chosen, or a multichannel download was
  /// last abandoned, in s; nil if neither has happened.
  var loweredAt: Double?
  /// Time of the last test (see `replacement`) that was made after all segments had been fetched,
  /// in s; nil if there was none.
  var testedAt: Double?
  /// Whether queued stereo segments are being replaced with multichannel, one after another.
  var isReplacing = false

  public init(ladder: Ladder, parameters: RenditionChoiceParameters = .init()) {
    self.ladder = ladder
    self.parameters = parameters
    hold = parameters.hold
  }

  public mutating func record(_ timing: SegmentTiming, rendition: Int) {
    guard let rate = history.record(timing) else { return }
    if rate >= recoveredRate {
      recoveredSince = recoveredSince ?? timing.end - timing.seconds
    } else {
      recoveredSince = nil
    }
  }

  /// Returns the rendition in which to fetch the next segment; 0 before the throughput is known.
  public mutating func next(_ situation: PlaySituation) -> Int {
    guard ladder.count > 1, let estimate else {
      current = 0
      return 0
    }
    settleTreatment(estimate, situation)
    if treatment == .multichannel {
      if let rendition = multichannelRendition(estimate, situation) {
        if let current, rendition < current { loweredAt = situation.now }
        current = rendition
        return rendition
      }
      degrade(.lineTooThin, situation)
    }
    let rendition = stereoRendition(estimate, situation)
    current = rendition
    return rendition
  }

  /// Expected throughput in bit/s; nil before the first sample. It is at most 1.5 times the newest
  /// sample, so that it drops at once after a slow segment.
  var estimate: Double? {
    guard let fast = history.mean(halfLife: parameters.fastHalfLife),
      let slow = history.mean(halfLife: parameters.slowHalfLife),
      let newest = history.samples.last?.bitsPerSecond
    else { return nil }
    return min(fast, slow, newest * 1.5)
  }

  public func seconds(forBits bits: Double) -> Double {
    estimate.map { history.firstByteSeconds + bits / $0 } ?? .infinity
  }

  /// Numbers of the stereo renditions; if there are none, the number of the cheapest rendition.
  var stereoRenditions: Range<Int> { 0..<max(1, ladder.firstMultichannel ?? ladder.count) }

  var canChange: Bool { ladder.firstMultichannel.map { $0 > 0 } ?? false }

  private mutating func settleTreatment(_ estimate: Double, _ situation: PlaySituation) {
    guard let first = ladder.firstMultichannel else {
      treatment = .stereo
      return
    }
    guard first > 0 else {
      treatment = .multichannel
      return
    }
    if treatment == .undecided {
      let carries = estimate >= parameters.startRatio * ladder[first].bitRate
      treatment = carries ? .multichannel : .stereo
    }
    if treatment == .stereo, !isReplacing, hasRecovered(situation) { restore(situation) }
  }

  /// Returns the expected download time of a segment, including the wait for the first byte, in s.
  /// `estimate` is the expected throughput in bit/s.
  func seconds(_ rendition: Int, _ estimate: Double, _ situation: PlaySituation) -> Double {
    history.firstByteSeconds + ladder[rendition].bitRate * situation.segmentSeconds / estimate
  }

  /// Returns the multichannel rendition to fetch; nil if the throughput and the buffer allow none.
  func multichannelRendition(_ estimate: Double, _ situation: PlaySituation) -> Int? {
    guard let first = ladder.firstMultichannel else { return nil }
    let room = situation.hasStarted ? situation.buffer - parameters.reserve : 3
    let share = min(
      max(situation.buffer / 30, parameters.leastShare), parameters.greatestShare)
    let isHeld = loweredAt.map { situation.now - $0 < parameters.raisingHold } ?? false
    for rendition in ladder.indices.dropFirst(first + 1).reversed() {
      if isHeld, rendition > current ?? first { continue }
      let ratio = (current.map { $0 >= rendition } ?? false ? 1 : parameters.raising) / share
      if estimate >= ratio * ladder[rendition].bitRate,
        seconds(rendition, estimate, situation) <= room - 1.5
      {
        return rendition
      }
    }
    let needed = seconds(first, estimate, situation)
    if needed <= room { return first }
    let canFallBack = seconds(0, estimate, situation) <= room
    let isWorthATrial = needed <= parameters.trial * situation.buffer
    return situation.hasStarted && canFallBack && isWorthATrial ? first : nil
  }

  /// Returns the best stereo rendition that the throughput and the buffer allow, or else the
  /// cheapest rendition.
  func stereoRendition(_ estimate: Double, _ situation: PlaySituation) -> Int {
    let room = situation.buffer - parameters.reserve - 0.5
    return stereoRenditions.last { rendition in
      estimate * 0.85 >= ladder[rendition].bitRate
        && seconds(rendition, estimate, situation) <= room
    } ?? 0
  }

  /// Whether more than 1.5 segments are buffered. After `startPatience`, any buffered sound
  /// suffices.
  public func mayStart(_ situation: PlaySituation) -> Bool {
    guard situation.buffer > 0 else { return false }
    return situation.buffer > situation.segmentSeconds * 1.5
      || situation.elapsed >= parameters.startPatience
  }
}
