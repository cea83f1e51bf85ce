// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
internal import Media
private import Surround

extension HLSSource {
  /// Frames either way in which the versions of a tier may lie apart at equal time stamps.
  private static let furthestShift = 2400
  /// s that are compared at least, and that are left of a segment where another version takes over.
  private static let leastCompared = 0.4
  private static let leastLeft = 0.1
  /// s that may be missing where what comes still follows on what was heard.
  private static let longestHole = 0.1
  /// s of a segment that are heard before stereo takes over, for which its upmix listens, and before
  /// multichannel does. The stereo's level is that of the time in which it is heard, on this side of the
  /// change or on that.
  private static let stereoSeconds = 1.25
  private static let multichannelSeconds = 3.0
  /// s over which the level on both sides of a change is to be the same.
  static let levelSeconds = 3.0

  /// Prepares the change to another version of the segment that is read, where one is wanted.
  ///
  /// - Returns: the frame up to which may be read before it is looked at again.
  func planJoin(from reader: RenditionReader) throws(PlaybackError) -> Int? {
    guard runEnd == nil, !isDraining, unjoinable != item,
      let found = supply.queue.item(item), found.versions.count > 1,
      let target = joinTarget(of: found, from: reader)
    else { return nil }
    let isStereo = !supply.presentation.ladder.tiers[target.tier].isMultichannel
    let settled = frames(isStereo ? Self.stereoSeconds : Self.multichannelSeconds)
    let fade = longestOverlap
    let latest = frames(found.end) - fade - frames(Self.leastLeft)
    let wanted = max(position, target.isAtEnd ? latest : min(frames(found.start) + settled, latest))
    if position < wanted { return wanted }
    unjoinable = item
    guard position <= latest + frames(0.05), let segment = found.versions[target.tier] else {
      return nil
    }
    do throws(PlaybackError) {
      try join(segment, target.tier, at: found, fade: fade)
      successor?.reason = target.reason
    } catch {
      if case .interrupted = error { throw error }
    }
    return nil
  }

  /// The tier that takes over within an item, and why; at its end where the next one may still be fetched
  /// again.
  private func joinTarget(
    of found: SupplyItem, from reader: RenditionReader
  ) -> (tier: Int, reason: String?, isAtEnd: Bool)? {
    if let tier = found.tier, tier != reader.tier, found.versions[tier] != nil {
      return (tier, found.reason, false)
    }
    guard let next = supply.queue.item(item + 1), let tier = next.tier, tier != reader.tier,
      found.versions[tier] != nil
    else { return nil }
    return (tier, next.reason, true)
  }

  private func join(
    _ segment: SuppliedSegment, _ tier: Int, at found: SupplyItem, fade: Int
  ) throws(PlaybackError) {
    guard let reader else { return }
    let other = try open(segment, tier, at: found)
    let needed = max(position + fade + Self.furthestShift, frames(found.end)) - other.position
    try media { () throws(MediaError) in
      try other.decodeAhead(needed)
      try reader.decodeAhead(frames(found.end) - position)
    }
    compare(other, with: reader)
    let isUpmixed = other.layout == .stereo && settings.upmix != .off
    let lead = isUpmixed ? frames(Self.stereoSeconds) : 0
    let start = max(other.position + other.warmUpFrames, position - lead)
    guard start <= position, other.position + other.ahead.count >= position + fade else { return }
    try media { () throws(MediaError) in try other.drop(start - other.position) }
    runEnd = position + fade
    successor = Successor(reader: other, joint: position + fade - other.position)
  }

  /// Moves another version to where it lies over what is heard, and makes it as loud.
  private func compare(_ other: RenditionReader, with reader: RenditionReader) {
    let start = max(position - history.count, other.position + other.warmUpFrames)
    guard position - start >= frames(Self.leastCompared),
      other.position + other.ahead.count >= position
    else { return }
    let end = min(position + reader.ahead.count, other.position + other.ahead.count)
    let sound = other.ahead.sound((start - other.position)..<(end - other.position))
    let heard = self.heard(start..<end, from: reader)
    learn(other, sound, against: reader, heard, heardAt: reader.level.now)
    other.level = .init(at: levels.decibels(of: other.tier))
    guard let comparison else { return }
    other.position += comparison.shift
    // On this side of the change or on that, where it is heard as stereo.
    let split = position - start
    let side = other.layout.isMultichannel ? 0..<split : split..<end - start
    func part(_ sound: [[Float]]) -> [[Float]] { sound.map { Array($0[side]) } }
    guard side.count >= frames(Self.leastCompared),
      let softer = softer(part(sound), other.layout, than: part(heard), reader.layout)
    else { return }
    other.level.begin(
      at: mixed(softer, over: side.count, other, reader), seconds: Self.levelSeconds)
  }

  /// The level at which a change is not heard, dB: as a part of the time shows that counts, and for the
  /// rest as in the mean of all times.
  private func mixed(
    _ softer: Double, over count: Int, _ other: RenditionReader, _ reader: RenditionReader
  ) -> Double {
    let mean = other.level.goal + reader.level.now - levels.decibels(of: reader.tier)
    let known = min(1, Double(count) / Double(frames(Self.levelSeconds)))
    return mean + known * (softer - mean)
  }

  /// What is heard: of the past as it was given, of what comes as it will be, channels x frames.
  private func heard(_ range: Range<Int>, from reader: RenditionReader) -> [[Float]] {
    let past = history.sound(history.count - (position - range.lowerBound)..<history.count)
    let coming = reader.ahead.sound(0..<range.upperBound - position)
    let gain = reader.level.gain
    return zip(past, coming).map { past, coming in past + coming.map { gain * $0 } }
  }

  /// Where a segment was fetched twice before anything was heard: what that tells of the tier that is
  /// not heard.
  func learnOthers(
    than reader: RenditionReader, in found: SupplyItem
  ) throws(PlaybackError) {
    guard isCut else { return }
    for (tier, segment) in found.versions where tier != reader.tier {
      guard let other = try? open(segment, tier, at: found) else { continue }
      let wanted = frames(Self.historySeconds)
      try media { () throws(MediaError) in
        try reader.decodeAhead(wanted)
        try other.decodeAhead(wanted)
      }
      let start = max(reader.position, other.position)
      let end = min(
        reader.position + reader.ahead.count, other.position + other.ahead.count)
      guard end - start >= frames(Self.leastCompared) else { continue }
      levels.hears(reader.tier)
      learn(
        other, other.ahead.sound((start - other.position)..<(end - other.position)),
        against: reader, reader.ahead.sound((start - reader.position)..<(end - reader.position)),
        heardAt: 0)
      comparison = nil
    }
  }

  /// Takes what two versions of one time tell of each other.
  ///
  /// - Parameters:
  ///   - sound: of the other tier, channels x frames.
  ///   - heard: the same time of the tier that is heard.
  ///   - level: at which `heard` is given, dB.
  private func learn(
    _ other: RenditionReader, _ sound: [[Float]], against reader: RenditionReader,
    _ heard: [[Float]], heardAt level: Double
  ) {
    comparison = SoundAlignment(
      of: Self.mono(sound, other.layout), to: Self.mono(heard, reader.layout),
      within: Self.furthestShift)
    guard let comparison else { return }
    levels.move(other.tier, by: comparison.shift)
    if let own = loudness(sound, other.layout), let its = loudness(heard, reader.layout) {
      levels.compare(other.tier, own, with: reader.tier, its, at: level)
    }
  }

  /// The level at which a run begins where its version of what was heard is not at hand; nil where it does
  /// not follow on that. What was louder or softer than in the mean stays so, and a tier without
  /// low-frequency effects, which no fold-down holds, makes up for them.
  func levelOfMeeting(_ reader: RenditionReader) throws(PlaybackError) -> Double? {
    let hole = reader.position - position
    guard let previous, !isCut, hole < frames(Self.longestHole),
      previous.discontinuity == reader.discontinuity
    else { return nil }
    let carried = levels.carried(to: reader.tier, from: previous.tier, at: previous.level.now)
    guard previous.layout.hasLowFrequencyEffects, !reader.layout.hasLowFrequencyEffects else {
      return carried
    }
    return try levelWithoutEffects(reader, after: previous) ?? carried
  }

  private func levelWithoutEffects(
    _ reader: RenditionReader, after previous: RenditionReader
  ) throws(PlaybackError) -> Double? {
    guard history.count >= frames(Self.leastCompared) else { return nil }
    try media { () throws(MediaError) in try reader.decodeAhead(frames(Self.levelSeconds)) }
    let coming = reader.ahead.sound(0..<min(reader.ahead.count, frames(Self.levelSeconds)))
    guard (coming.first?.count ?? 0) >= frames(Self.leastCompared),
      let past = loudness(history.sound(0..<history.count), previous.layout),
      let own = loudness(coming, reader.layout)
    else { return nil }
    return levels.decibels(
      of: reader.tier, coming: own, after: previous.tier, past: past, at: previous.level.now)
  }

  /// How loud a stretch is as it is heard; nil for silence, and where that is not known.
  private func loudness(_ sound: [[Float]], _ layout: ChannelLayout) -> HeardLoudness? {
    guard let loudnessAsHeard, let whole = loudnessAsHeard(layout, sound) else { return nil }
    guard case .speakers(let speakers) = layout, layout.hasLowFrequencyEffects else {
      return HeardLoudness(whole: whole, mains: whole)
    }
    let mains = zip(speakers, sound).map { speaker, plane in
      speaker.isLowFrequency ? [Float](repeating: 0, count: plane.count) : plane
    }
    return HeardLoudness(whole: whole, mains: loudnessAsHeard(layout, mains) ?? -.infinity)
  }

  /// By how much one version of a stretch is softer than another one, dB; nil where that is not known.
  private func softer(
    _ sound: [[Float]], _ layout: ChannelLayout, than heard: [[Float]], _ heardLayout: ChannelLayout
  ) -> Double? {
    guard let loudnessAsHeard, let own = loudnessAsHeard(layout, sound),
      let other = loudnessAsHeard(heardLayout, heard)
    else { return nil }
    return other - own
  }

  /// One signal in which everything is heard.
  private static func mono(_ sound: [[Float]], _ layout: ChannelLayout) -> [Float] {
    let gains = Treatment(plain: layout).headLocked
    var sum = [Float](repeating: 0, count: sound.first?.count ?? 0)
    for (c, plane) in sound.enumerated() {
      let gain = Float(gains[0][c] + gains[1][c])
      if gain != 0 { for i in plane.indices { sum[i] += gain * plane[i] } }
    }
    return sum
  }
}

extension ChannelLayout {
  fileprivate var hasLowFrequencyEffects: Bool {
    guard case .speakers(let speakers) = self else { return false }
    return speakers.contains(where: \.isLowFrequency)
  }
}
