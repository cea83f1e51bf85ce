// SPDX-License-Identifier: Apache-2.0

/// A change between multichannel and stereo. `time` is in s on the clock of `PlaySituation.now`.
public struct TreatmentChange: Sendable, Equatable {
  public enum Reason: String, Sendable {
    /// The next multichannel segment was not expected to arrive in time.
    case lineTooThin
    /// The download of a multichannel segment was too slow.
    case downloadTooSlow
    case recovered
  }

  public let time: Double
  public let isMultichannel: Bool
  public let reason: Reason
}

extension RenditionChoice {
  /// Minimum throughput that counts as recovered, in bit/s; infinite without a multichannel
  /// rendition.
  var recoveredRate: Double {
    ladder.firstMultichannel.map { parameters.recovery * ladder[$0].bitRate } ?? .infinity
  }

  mutating func degrade(_ reason: TreatmentChange.Reason, _ situation: PlaySituation) {
    guard canChange, treatment != .stereo else { return }
    if let returnedAt {
      let wasShort = situation.now - returnedAt < parameters.shortReturn
      hold = wasShort ? min(parameters.longestHold, hold * 2) : parameters.hold
    }
    recoveredSince = nil
    isReplacing = false
    treatment = .stereo
    lastChange = TreatmentChange(time: situation.now, isMultichannel: false, reason: reason)
  }

  mutating func restore(_ situation: PlaySituation) {
    treatment = .multichannel
    returnedAt = situation.now
    lastChange = TreatmentChange(time: situation.now, isMultichannel: true, reason: .recovered)
  }

  /// Whether enough sound is buffered, and the throughput has stayed recovered for long enough, to
  /// return to multichannel.
  ///
  /// The required time decreases from `hold` at the throughput ratio `recovery` to half of `hold`
  /// at the ratio `strongRecovery`. On a steady connection, the ratio `steadyRecovery` suffices.
  func hasRecovered(_ situation: PlaySituation) -> Bool {
    guard canChange, let first = ladder.firstMultichannel else { return false }
    guard situation.buffer >= leastBuffer(situation) else { return false }
    if let steadyRate, steadyRate >= parameters.steadyRecovery * ladder[first].bitRate {
      return true
    }
    guard let recoveredSince,
      let least = history.minimum(ofLast: neededSamples(situation)), least >= recoveredRate,
      let fast = history.mean(halfLife: parameters.fastHalfLife), fast >= recoveredRate
    else { return false }
    let ratio = least / ladder[first].bitRate
    let strength =
      (ratio - parameters.recovery) / (parameters.strongRecovery - parameters.recovery)
    let needed = hold * (1 - 0.5 * min(max(strength, 0), 1))
    return situation.now - recoveredSince >= needed
  }

  /// The lowest recent throughput, in bit/s; nil if the connection is not steady.
  private var steadyRate: Double? {
    history.steadyRange(
      over: max(parameters.steadySeconds, hold), count: parameters.steadySamples,
      spread: parameters.steadySpread)?.lowerBound
  }

  private func neededSamples(_ situation: PlaySituation) -> Int {
    let room = parameters.hold / situation.segmentSeconds
    return room >= Double(parameters.recoveredSamples) ? parameters.recoveredSamples : 1
  }

  private func leastBuffer(_ situation: PlaySituation) -> Double {
    min(parameters.recoveryBuffer, parameters.recoverySegments * situation.segmentSeconds)
  }

  /// Returns the next queued stereo segment to replace with multichannel; nil if none should be
  /// replaced now.
  ///
  /// While the treatment is stereo, the first replacement is a test: it is played only if it
  /// arrives in time and fast enough.
  ///
  /// Once all segments have been fetched, only a test can show that the throughput has recovered.
  /// A test is then also permitted when `hold` has passed since the previous test of this kind or,
  /// before the first one, since the change to stereo. If the treatment has always been stereo, the
  /// first one is permitted at once.
  public mutating func replacement(
    _ situation: PlaySituation, queue: [ReplaceableSegment]
  ) -> Replacement? {
    guard canChange, let first = ladder.firstMultichannel else { return nil }
    guard situation.hasStarted else { return betterStart(situation, queue: queue, first) }
    if treatment == .stereo {
      guard hasRecovered(situation) || mayTest(situation) else { return nil }
      if situation.isAtEnd { testedAt = situation.now }
      isReplacing = true
    }
    guard isReplacing, let estimate = history.mean(halfLife: parameters.fastHalfLife) else {
      return nil
    }
    let needed = 1.3 * seconds(first, estimate, situation)
    let latest = parameters.latestJoin * situation.segmentSeconds
    let candidate = queue.first { segment in
      !isMultichannel(segment) && segment.secondsLeft + latest >= needed
    }
    guard let candidate else {
      isReplacing = false
      return nil
    }
    let isSafe = situation.isWaiting || situation.buffer >= leastBuffer(situation)
    return isSafe ? Replacement(number: candidate.number, rendition: first) : nil
  }

  private func mayTest(_ situation: PlaySituation) -> Bool {
    guard situation.isAtEnd else { return false }
    return situation.now - (testedAt ?? lastChange?.time ?? -.infinity) >= hold
  }

  /// Returns a multichannel replacement for the first segment, and changes the treatment to
  /// multichannel. Returns nil if the segment should not be replaced before playback starts.
  private mutating func betterStart(
    _ situation: PlaySituation, queue: [ReplaceableSegment], _ first: Int
  ) -> Replacement? {
    guard treatment == .undecided, queue.count == 1, let segment = queue.first,
      !isMultichannel(segment), let rate = history.samples.last?.bitsPerSecond,
      rate >= parameters.startRatio * ladder[first].bitRate,
      situation.elapsed + seconds(first, rate, situation) <= parameters.startPatience
    else { return nil }
    treatment = .multichannel
    return Replacement(number: segment.number, rendition: first)
  }

  public mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool {
    guard inTime else {
      isReplacing = false
      return false
    }
    guard treatment == .stereo else { return true }
    let margin = steadyRate == nil ? parameters.recovery : parameters.steadyRecovery
    guard let first = ladder.firstMultichannel, let rate = history.samples.last?.bitsPerSecond,
      rate >= margin * ladder[first].bitRate
    else {
      isReplacing = false
      recoveredSince = nil
      return false
    }
    restore(situation)
    return true
  }

  private func isMultichannel(_ segment: ReplaceableSegment) -> Bool {
    ladder.indices.contains(segment.rendition) && ladder[segment.rendition].isMultichannel
  }
}
