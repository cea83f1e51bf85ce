// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
private import Glibc

/// The loudness of a decoded track according to the metadata of the file.
public struct StatedLoudness: Sendable, Equatable {
  public enum Origin: String, Sendable {
    /// The dialogue level in AC-3 and E-AC-3 (A/52, 5.4.2.8).
    case dialnorm
    /// The programme reference level in AAC (ISO/IEC 14496-3, 4.5.2.7).
    case programmeReference = "prog_ref_level"
    /// The `tlou` box of MP4 (ISO 14496-12, 12.2.7).
    case loudnessBox = "ludt"
    /// The `R128_TRACK_GAIN` tag of Opus (RFC 7845, 5.2.1).
    case r128 = "R128_TRACK_GAIN"
    /// The `REPLAYGAIN_TRACK_GAIN` tag of ReplayGain 2.0.
    case replayGain = "REPLAYGAIN_TRACK_GAIN"
  }

  /// Whether `loudness` may be a nominal value instead of a measured one.
  public var isNominal: Bool { origin == .dialnorm || origin == .programmeReference }

  public var origin: Origin
  /// The loudness of the decoded track, in LUFS.
  public var loudness: Double
  /// The true peak in dBTP or, if that is missing, the sample peak in dBFS; nil if neither is
  /// stated.
  public var peak: Double?

  public init(origin: Origin, loudness: Double, peak: Double? = nil) {
    self.origin = origin
    self.loudness = loudness
    self.peak = peak
  }

  /// The range of plausible loudness in a tag or a `tlou` box, in LUFS. Values outside it are
  /// ignored.
  static let plausible = -60.0...3.0

  /// Reads the loudness from tags; nil if no tag states a plausible loudness.
  ///
  /// - Parameter tag: returns the text of the tag with the given name, ignoring case; nil if there
  ///   is no such tag.
  static func tagged(_ tag: (String) -> String?) -> StatedLoudness? {
    // The gain is in units of 1/256 dB, relative to -23 LUFS.
    if let gain = tag("R128_TRACK_GAIN").flatMap({ Int($0) }), (-32768...32767).contains(gain) {
      let loudness = -23 - Double(gain) / 256
      if plausible.contains(loudness) { return StatedLoudness(origin: .r128, loudness: loudness) }
    }
    // The gain is in dB, relative to -18 LUFS.
    if let gain = tag("REPLAYGAIN_TRACK_GAIN").flatMap(leadingNumber) {
      let loudness = -18 - gain
      let peak = tag("REPLAYGAIN_TRACK_PEAK").flatMap(leadingNumber)
      guard plausible.contains(loudness) else { return nil }
      return StatedLoudness(
        origin: .replayGain, loudness: loudness,
        peak: peak.flatMap { $0 > 1e-5 && $0 < 100 ? decibels($0) : nil })
    }
    return nil
  }

  /// Parses the number at the start of a text such as "-6.52 dB"; nil if there is none.
  private static func leadingNumber(_ text: String) -> Double? {
    let trimmed = text.drop { $0 == " " }
    let digits = trimmed.prefix { "0123456789+-.eE".contains($0) }
    guard let value = Double(digits), value.isFinite else { return nil }
    return value
  }

  private static func decibels(_ amplitude: Double) -> Double { 20 * log10(amplitude) }
}

extension StatedLoudness {
  /// Reads the stated loudness of a track; nil if there is no plausible loudness. `dialogueLevel`
  /// is the level to which the decoder brings dialogue, in LUFS; nil if the decoder does not change
  /// the level.
  init?(
    of track: AudioTrack, in demuxer: Demuxer, source: any ByteSource, dialogueLevel: Int?
  ) {
    let stream = demuxer.streams[track.streamIndex]
    if let dialogueLevel {
      let isAAC = stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_AAC
      self.init(
        origin: isAAC ? .programmeReference : .dialnorm, loudness: Double(dialogueLevel))
      return
    }
    if demuxer.format == .quickTime, source.byteCount != nil {
      defer { demuxer.resume() }
      let box = MovieBoxes(source).loudness(track: Int(stream.pointee.id))
      if let loudness = box?.loudness, Self.plausible.contains(loudness) {
        self.init(origin: .loudnessBox, loudness: loudness, peak: box?.peak)
        return
      }
    }
    guard let found = Self.tagged({ demuxer.tag($0, of: stream) }) else { return nil }
    self = found
  }
}
