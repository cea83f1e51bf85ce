// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Rendering
private import Surround

/// Lays renditions over each other: compares them where two are at hand of one time, and remembers
/// how far apart they lie and how loud each one is.
struct RenditionMatch {
  /// See `StreamedSource`.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)?
  private(set) var levels = RenditionLevels()
  /// What was found where two renditions were compared last.
  var alignment: RenditionAlignment?
  /// What the run has given, the newest last.
  private var history: SoundLine

  /// Frames either way in which renditions may lie apart at equal time stamps.
  static let furthestShift = 2400
  /// s over which the level on both sides of a change is to be the same.
  static let levelSeconds = 3.0
  /// s of the past that are compared with another rendition.
  private static let historySeconds = 3.0
  /// s that are compared at least.
  private static let leastCompared = 0.4
  /// s that may be missing where what comes still follows on what was heard.
  private static let longestHole = 0.1

  init(channels: Int) { history = SoundLine(channels: channels) }

  /// A run begins.
  mutating func begin(_ reader: RenditionReader) {
    levels.hears(reader.rendition)
    history = SoundLine(channels: reader.layout.channelCount)
  }

  /// Takes what the run has given.
  mutating func remember(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int, sampleRate: Int
  ) {
    history.append(planes, frames: count)
    history.keepLast(Int((Self.historySeconds * Double(sampleRate)).rounded()))
  }

  // MARK: Two renditions of one time

  /// Moves another rendition to where it lies over the one that is heard, and makes it as loud.
  mutating func align(_ other: RenditionReader, with reader: RenditionReader) {
    let position = reader.position
    let start = max(position - history.count, other.position + other.warmUpFrames)
    let least = reader.frames(Self.leastCompared)
    guard position - start >= least, other.end >= position else { return }
    let end = min(reader.end, other.end)
    let sound = other.coming(start..<end)
    let heard = heard(start..<end, from: reader)
    learn(other, sound, against: reader, heard, heardAt: reader.level.now)
    other.level = .init(at: levels.decibels(of: other.rendition))
    guard let alignment else { return }
    other.position += alignment.shift
    // On this side of the change or on that, where it is heard as stereo.
    let split = position - start
    let side = other.layout.isMultichannel ? 0..<split : split..<end - start
    func part(_ sound: [[Float]]) -> [[Float]] { sound.map { Array($0[side]) } }
    guard side.count >= least, let own = loudnessAsHeard?(other.layout, part(sound)),
      let its = loudnessAsHeard?(reader.layout, part(heard))
    else { return }
    // As a part of the time shows that counts, and for the rest as in the mean of all times.
    let mean = other.level.goal + reader.level.now - levels.decibels(of: reader.rendition)
    let known = min(1, Double(side.count) / Double(reader.frames(Self.levelSeconds)))
    other.level.begin(at: mean + known * (its - own - mean), seconds: Self.levelSeconds)
  }

  /// What is heard: of the past as it was given, of what comes as it will be, channels x frames.
  private func heard(_ range: Range<Int>, from reader: RenditionReader) -> [[Float]] {
    let past = history.sound(history.count - (reader.position - range.lowerBound)..<history.count)
    let coming = reader.coming(reader.position..<range.upperBound)
    let gain = reader.level.gain
    return zip(past, coming).map { past, coming in past + coming.map { gain * $0 } }
  }

  /// Takes what two renditions tell of each other before anything is heard.
  mutating func learn(
    of other: RenditionReader, beside reader: RenditionReader
  ) throws(PlaybackError) {
    let wanted = reader.frames(Self.historySeconds)
    try reader.decodeAhead(wanted)
    try other.decodeAhead(wanted)
    let start = max(reader.position, other.position)
    let end = min(reader.end, other.end)
    guard end - start >= reader.frames(Self.leastCompared) else { return }
    levels.hears(reader.rendition)
    learn(
      other, other.coming(start..<end), against: reader, reader.coming(start..<end), heardAt: 0)
    alignment = nil
  }

  /// Takes what two renditions of one time tell of each other.
  ///
  /// - Parameters:
  ///   - sound: of the other rendition, channels x frames.
  ///   - heard: the same time of the rendition that is heard.
  ///   - level: at which `heard` is given, dB.
  private mutating func learn(
    _ other: RenditionReader, _ sound: [[Float]], against reader: RenditionReader,
    _ heard: [[Float]], heardAt level: Double
  ) {
    alignment = RenditionAlignment(
      of: Self.mono(sound, other.layout), to: Self.mono(heard, reader.layout),
      within: Self.furthestShift)
    guard let alignment else { return }
    levels.move(other.rendition, by: alignment.shift)
    if let own = loudness(sound, other.layout), let its = loudness(heard, reader.layout) {
      levels.compare(other.rendition, own, with: reader.rendition, its, at: level)
    }
  }

  // MARK: Renditions that only meet

  /// The level at which a run begins where its rendition of what was heard is not at hand; nil
  /// where it does not follow on that. What was louder or softer than in the mean stays so, and a
  /// rendition without low-frequency effects, which no fold-down holds, makes up for them.
  ///
  /// - Parameter position: the frame at which the run before ended.
  func level(
    of reader: RenditionReader, after previous: RenditionReader, at position: Int
  ) throws(PlaybackError) -> Double? {
    guard reader.position - position < reader.frames(Self.longestHole),
      previous.discontinuity == reader.discontinuity
    else { return nil }
    let carried = levels.carried(
      to: reader.rendition, from: previous.rendition, at: previous.level.now)
    guard previous.layout.hasLowFrequencyEffects, !reader.layout.hasLowFrequencyEffects else {
      return carried
    }
    return try levelWithoutEffects(reader, after: previous) ?? carried
  }

  private func levelWithoutEffects(
    _ reader: RenditionReader, after previous: RenditionReader
  ) throws(PlaybackError) -> Double? {
    let least = reader.frames(Self.leastCompared)
    guard history.count >= least else { return nil }
    let wanted = reader.frames(Self.levelSeconds)
    try reader.decodeAhead(wanted)
    let coming = reader.coming(reader.position..<min(reader.end, reader.position + wanted))
    guard (coming.first?.count ?? 0) >= least,
      let past = loudness(history.sound(0..<history.count), previous.layout),
      let own = loudness(coming, reader.layout)
    else { return nil }
    return levels.decibels(
      of: reader.rendition, coming: own, after: previous.rendition, past: past,
      at: previous.level.now)
  }

  // MARK: Measures

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
