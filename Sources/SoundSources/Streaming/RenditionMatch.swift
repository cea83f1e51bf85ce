// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Rendering
private import Surround

/// Compares renditions that cover the same time, and remembers the shift and level of each.
struct RenditionMatch {
  /// A function that measures the loudness at the ears; see `StreamedSource.loudnessAsHeard`.
  var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)?
  private(set) var levels = RenditionLevels()
  /// The last frames of the current run, as they were output. Between two runs, the last frames of
  /// the earlier run.
  private var history: SoundLine

  /// The largest shift between renditions in either direction, in frames.
  static let furthestShift = 2400
  /// The length of the sound whose loudness is matched at a change of rendition, in seconds. After
  /// the change, the level stays constant for the same time.
  static let levelSeconds = 3.0
  /// The length of the history, in seconds. At the start and after a seek, upcoming sound of the
  /// same length is compared instead.
  private static let historySeconds = 3.0
  /// The shortest sound for a comparison, in seconds.
  private static let leastCompared = 0.4
  /// The shortest gap after which a run no longer continues the sound before it, in seconds.
  private static let longestHole = 0.1

  init(channels: Int) { history = SoundLine(channels: channels) }

  /// Records that a run begins, and clears the history.
  mutating func begin(_ reader: RenditionReader) {
    levels.hears(reader.rendition)
    history = SoundLine(channels: reader.layout.channelCount)
  }

  mutating func remember(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int, sampleRate: Int
  ) {
    history.append(planes, frames: count)
    history.keepLast(Int((Self.historySeconds * Double(sampleRate)).rounded()))
  }

  // MARK: Renditions that cover the same time

  /// Aligns another rendition with the current one and matches its loudness, if their sounds can be
  /// compared and agree. Returns nil if they cannot be compared or do not agree.
  mutating func align(
    _ other: RenditionReader, with reader: RenditionReader
  ) -> RenditionAlignment? {
    let position = reader.position
    let start = max(position - history.count, other.position + other.warmUpFrames)
    let least = reader.frames(Self.leastCompared)
    guard position - start >= least, other.end >= position else { return nil }
    let end = min(reader.end, other.end)
    let sound = other.coming(start..<end)
    let heard = heard(start..<end, from: reader)
    let found = learn(other, sound, against: reader, heard, heardAt: reader.level.now)
    other.level = .init(at: levels.decibels(of: other.rendition))
    guard let alignment = found else { return nil }
    other.position += alignment.shift
    // Compare the loudness of the part in which the stereo rendition, if there is one, is audible:
    // before a change to multichannel, or after a change to stereo.
    let split = position - start
    let side = other.layout.isMultichannel ? 0..<split : split..<end - start
    func part(_ sound: [[Float]]) -> [[Float]] { sound.map { Array($0[side]) } }
    guard side.count >= least, let own = loudnessAsHeard?(other.layout, part(sound)),
      let its = loudnessAsHeard?(reader.layout, part(heard))
    else { return alignment }
    // Weight the measured level by the share of `levelSeconds` that it covers, and the average
    // level by the remaining share.
    let mean = other.level.goal + reader.level.now - levels.decibels(of: reader.rendition)
    let known = min(1, Double(side.count) / Double(reader.frames(Self.levelSeconds)))
    other.level.begin(at: mean + known * (its - own - mean), seconds: Self.levelSeconds)
    return alignment
  }

  /// Returns frames of the current rendition, channels x frames: past frames as they were output,
  /// and upcoming frames with the current gain.
  private func heard(_ range: Range<Int>, from reader: RenditionReader) -> [[Float]] {
    let past = history.sound(history.count - (reader.position - range.lowerBound)..<history.count)
    let coming = reader.coming(reader.position..<range.upperBound)
    let gain = reader.level.gain
    return zip(past, coming).map { past, coming in past + coming.map { gain * $0 } }
  }

  /// Compares the first frames of two renditions at the start or after a seek.
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
  }

  /// Compares another rendition with the sound heard over the same time. If they agree, updates the
  /// other rendition's shift and, if both loudnesses can be measured, records the comparison in
  /// `levels`. Returns nil if the sounds are too short or do not agree. `level` is the gain that
  /// `heard` includes, in dB.
  @discardableResult private mutating func learn(
    _ other: RenditionReader, _ sound: [[Float]], against reader: RenditionReader,
    _ heard: [[Float]], heardAt level: Double
  ) -> RenditionAlignment? {
    guard
      let alignment = RenditionAlignment(
        of: Self.mono(sound, other.layout), to: Self.mono(heard, reader.layout),
        within: Self.furthestShift)
    else { return nil }
    levels.move(other.rendition, by: alignment.shift)
    if let own = loudness(sound, other.layout), let its = loudness(heard, reader.layout) {
      levels.compare(other.rendition, own, with: reader.rendition, its, at: level)
    }
    return alignment
  }

  // MARK: Renditions that do not overlap

  /// Returns the level, in dB, at which a run begins after the previous run. Returns nil if the run
  /// does not continue the sound before it.
  ///
  /// A difference between the previous rendition's level and its average is carried over. If only
  /// the previous rendition has low-frequency effects, the level may be raised to make up for them.
  /// `position` is the frame at which the previous run ended.
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

  /// Returns the loudness of a short sound as the listener hears it; nil if it cannot be measured.
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

  /// Returns a mono downmix without low-frequency effects.
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
