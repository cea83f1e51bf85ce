// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

extension AudioTrack {
  /// Returns the audio tracks of an open container. `source`, from which `demuxer` reads, is
  /// searched for labels that libavformat may not report.
  static func all(in demuxer: Demuxer, source: any ByteSource) -> [AudioTrack] {
    let labels = ContainerLabels(demuxer: demuxer, source: source)
    defer { demuxer.resume() }
    return demuxer.streams(of: AVMEDIA_TYPE_AUDIO).enumerated().map { index, stream in
      AudioTrack(stream: stream, number: index + 1, labels: labels, demuxer: demuxer)
    }
  }

  /// Returns the track to play: `preferred` or, if that is nil, the richest track.
  ///
  /// - Throws: `.noAudio` if there is no audio track; `.unplayable` if `preferred` cannot be
  ///   played, or if it is nil and no track can be played.
  static func chosen(
    of tracks: [AudioTrack], preferred: AudioTrack?, in demuxer: Demuxer
  ) throws(MediaError) -> AudioTrack {
    guard let chosen = preferred ?? richest(of: tracks) ?? tracks.first else {
      throw .noAudio(path: demuxer.name, hasVideo: demuxer.hasVideo)
    }
    try chosen.requirePlayable(in: demuxer.name)
    return chosen
  }

  func requirePlayable(in path: String) throws(MediaError) {
    guard let problem else { return }
    throw .unplayable(path: path, track: number, problem: problem)
  }

  private init(
    stream: UnsafeMutablePointer<AVStream>, number: Int, labels: ContainerLabels, demuxer: Demuxer
  ) {
    let parameters = stream.pointee.codecpar!
    self.number = number
    streamIndex = Int(stream.pointee.index)
    codec = Self.codecName(parameters)
    let channels = Int(parameters.pointee.ch_layout.nb_channels)
    sampleRate = Int(parameters.pointee.sample_rate)
    language = metadata(stream.pointee.metadata, "language").flatMap { $0 == "und" ? nil : $0 }
    title = metadata(stream.pointee.metadata, "title")
    let disposition = stream.pointee.disposition
    isDefault = disposition & AV_DISPOSITION_DEFAULT != 0
    let supplementary =
      AV_DISPOSITION_COMMENT | AV_DISPOSITION_HEARING_IMPAIRED
      | AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_CLEAN_EFFECTS
    isSupplementary = disposition & supplementary != 0
    statedFrames = labels.statedFrames(parameters)
    layout =
      labels.layout(stream: stream, channels: channels)
      ?? (channels > 2 && Self.hasEmptyMask(stream, in: demuxer)
        ? .unknown(channels: channels) : ChannelLayout(parameters.pointee.ch_layout))
    problem = Self.problem(parameters, codec: codec, channels: channels, rate: sampleRate)
    isBinaural =
      channels == 2
      && (BinauralMark.isSet(parameters.pointee.ch_layout)
        || BinauralMark.isSet(stream: stream, in: demuxer))
    changes = LayoutChanges(
      codec: parameters.pointee.codec_id, format: demuxer.format, isMultichannel: channels > 2)
  }

  /// Returns the track, corrected by the format of its first frame. The layout changes only if the
  /// number of channels differs.
  func corrected(by frame: UnsafeMutablePointer<AVFrame>) -> AudioTrack {
    var track = self
    track.sampleRate = Int(frame.pointee.sample_rate)
    track.matrixEncoding = MatrixEncoding(of: frame)
    if track.matrixEncoding == .dolbyHeadphone { track.isBinaural = true }
    let layout = ChannelLayout(frame.pointee.ch_layout)
    if layout.channelCount != channels { track.layout = layout }
    track.problem = Self.formatProblem(channels: track.channels, rate: track.sampleRate)
    return track
  }

  /// Whether a tag states a loudspeaker mask of 0, which means that the channels are not
  /// loudspeakers (RFC 9639, section 8.6.2). libavformat ignores such a mask.
  private static func hasEmptyMask(
    _ stream: UnsafeMutablePointer<AVStream>, in demuxer: Demuxer
  ) -> Bool {
    let text = demuxer.tag("WAVEFORMATEXTENSIBLE_CHANNEL_MASK", of: stream)?.lowercased()
    guard let text, text.hasPrefix("0x") else { return text == "0" }
    return UInt64(text.dropFirst(2), radix: 16) == 0
  }

  private static func problem(
    _ parameters: UnsafeMutablePointer<AVCodecParameters>, codec: String, channels: Int, rate: Int
  ) -> TrackProblem? {
    guard avcodec_find_decoder(parameters.pointee.codec_id) != nil else {
      return .noDecoder(codec: codec)
    }
    return formatProblem(channels: channels, rate: rate)
  }

  private static func formatProblem(channels: Int, rate: Int) -> TrackProblem? {
    guard (1...maximumChannels).contains(channels) else { return .channelCount(channels) }
    guard sampleRates.contains(rate) else { return .sampleRate(rate) }
    return nil
  }

  private static func codecName(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> String {
    guard parameters.pointee.codec_id == AV_CODEC_ID_NONE else {
      return String(cString: avcodec_get_name(parameters.pointee.codec_id))
    }
    let tag = parameters.pointee.codec_tag
    let characters = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
    guard characters.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "unknown" }
    return String(decoding: characters, as: UTF8.self)
  }
}

/// Detects two-channel sound that was made for headphones.
private enum BinauralMark {
  /// The values of `AV_CHAN_BINAURAL_LEFT` and `AV_CHAN_BINAURAL_RIGHT`, which FFmpeg before 7.1
  /// lacks.
  private static let channels: [UInt32] = [61, 62]

  static func isSet(_ layout: AVChannelLayout) -> Bool {
    var layout = layout
    guard layout.nb_channels == 2 else { return false }
    let found = (0..<2).map {
      UInt32(bitPattern: Int32(av_channel_layout_channel_from_index(&layout, $0).rawValue))
    }
    return found == channels
  }

  /// Whether the `BINAURAL` tag or, without it, the word "binaural" in the title or handler name
  /// marks the track as binaural. The tag values 0, no, false and off mean false.
  static func isSet(stream: UnsafeMutablePointer<AVStream>, in demuxer: Demuxer) -> Bool {
    if let tag = demuxer.tag("BINAURAL", of: stream) {
      return !["0", "no", "false", "off"].contains(tag.lowercased())
    }
    return ["title", "handler_name"].contains {
      metadata(stream.pointee.metadata, $0).map(hasWord) ?? false
    }
  }

  private static func hasWord(_ text: String) -> Bool {
    text.lowercased().split { !$0.isLetter }.contains("binaural")
  }
}
