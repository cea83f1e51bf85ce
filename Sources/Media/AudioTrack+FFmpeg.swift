// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

extension AudioTrack {
  /// The audio tracks of an open container. `source` is read for what libavformat does not report.
  static func all(in demuxer: Demuxer, source: any ByteSource) -> [AudioTrack] {
    let streams = demuxer.streams.filter {
      $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }
    let labels = ContainerLabels(demuxer: demuxer, source: source)
    defer { demuxer.resume() }
    return streams.enumerated().map { index, stream in
      AudioTrack(stream: stream, number: index + 1, labels: labels, demuxer: demuxer)
    }
  }

  private init(
    stream: UnsafeMutablePointer<AVStream>, number: Int, labels: ContainerLabels, demuxer: Demuxer
  ) {
    let parameters = stream.pointee.codecpar!
    self.number = number
    streamIndex = Int(stream.pointee.index)
    codec = Self.codecName(parameters)
    channels = Int(parameters.pointee.ch_layout.nb_channels)
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
      ?? ChannelLayout(parameters.pointee.ch_layout)
    problem = Self.problem(parameters, codec: codec, channels: channels, rate: sampleRate)
    isBinaural =
      channels == 2
      && (BinauralMark.isSet(parameters.pointee.ch_layout)
        || BinauralMark.isSet(stream: stream, in: demuxer))
    canChangeChannels = LayoutChanges.arePossible(codec: codec, format: demuxer.format)
    laterLayouts = LayoutChanges.expected(
      codec: codec, format: demuxer.format, isMultichannel: channels > 2)
  }

  /// The same track with the format of its first frame, which counts more than what the container
  /// says or what the end of a short file is like.
  func corrected(by frame: UnsafeMutablePointer<AVFrame>) -> AudioTrack {
    var track = self
    track.channels = Int(frame.pointee.ch_layout.nb_channels)
    track.sampleRate = Int(frame.pointee.sample_rate)
    track.matrixEncoding = MatrixEncoding(of: frame)
    if track.matrixEncoding == .dolbyHeadphone { track.isBinaural = true }
    if track.channels != channels { track.layout = ChannelLayout(frame.pointee.ch_layout) }
    track.problem = Self.formatProblem(channels: track.channels, rate: track.sampleRate)
    return track
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

/// Ambisonic labels read past libavformat.
private struct ContainerLabels {
  private enum Kind {
    case quickTime([Int: ChannelLayout])
    case coreAudio(ChunkLayouts)
    case wave(ChunkLayouts)
    case none
  }

  private let kind: Kind

  init(demuxer: Demuxer, source: any ByteSource) {
    guard source.byteCount != nil else {
      kind = .none
      return
    }
    switch demuxer.format {
    case let format where format.hasPrefix("mov"):
      kind = .quickTime(QuickTimeBoxes(source).ambisonicLayouts())
    case "caf": kind = .coreAudio(ChunkLayouts(source))
    case "wav": kind = .wave(ChunkLayouts(source))
    default: kind = .none
    }
  }

  func layout(stream: UnsafeMutablePointer<AVStream>, channels: Int) -> ChannelLayout? {
    switch kind {
    case .quickTime(let layouts):
      layouts[Int(stream.pointee.id)].flatMap { $0.channelCount == channels ? $0 : nil }
    case .coreAudio(let chunks): chunks.coreAudio(channels: channels)
    case .wave(let chunks): chunks.isBFormat() ? Self.bFormat(channels) : nil
    case .none: nil
    }
  }

  /// Mixed orders (3, 5, 6, 7, 8 and 11 channels) stay unknown.
  private static func bFormat(_ channels: Int) -> ChannelLayout {
    guard let order = CoreAudioLayout.order(channels), (1...3).contains(order) else {
      return .unknown(channels: channels)
    }
    return .ambisonics(order: order, convention: .fuMa, headLocked: false)
  }

  /// libavformat takes a cut file's size for its length.
  func statedFrames(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> Int64? {
    let bits = Int64(av_get_exact_bits_per_sample(parameters.pointee.codec_id))
    let frameBits = bits * Int64(parameters.pointee.ch_layout.nb_channels)
    let bytes: Int64? =
      switch kind {
      case .wave(let chunks): chunks.waveDataLength()
      case .coreAudio(let chunks): chunks.coreAudioDataLength()
      default: nil
      }
    guard frameBits > 0, let bytes, bytes < .max / 8 else { return nil }
    return bytes * 8 / frameBits
  }
}

/// A non-empty entry of a dictionary of FFmpeg's.
func metadata(_ dictionary: OpaquePointer?, _ key: String) -> String? {
  guard let entry = av_dict_get(dictionary, key, nil, 0) else { return nil }
  let text = String(cString: entry.pointee.value)
  return text.isEmpty ? nil : text
}
