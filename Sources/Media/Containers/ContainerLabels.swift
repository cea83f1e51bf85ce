// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// The ambisonic labels and the audio length that a container states. libavformat may not report
/// them.
struct ContainerLabels {
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
    case .quickTime: kind = .quickTime(MovieBoxes(source).ambisonicLayouts())
    case .coreAudio: kind = .coreAudio(ChunkLayouts(source))
    case .wave: kind = .wave(ChunkLayouts(source))
    case .ogg, .transportStream, .bareDolby, .bareDTS, .bareMPEG, .other: kind = .none
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

  /// Returns the FuMa layout for 4, 9 or 16 channels. Returns `.unknown` for other numbers.
  private static func bFormat(_ channels: Int) -> ChannelLayout {
    guard let order = CoreAudioLayout.order(channels), (1...3).contains(order) else {
      return .unknown(channels: channels)
    }
    return .ambisonics(order: order, convention: .fuMa, headLocked: false)
  }

  /// Returns the number of frames that the header of a RIFF or Core Audio file states. For a
  /// truncated file, libavformat reports a different number.
  ///
  /// Returns nil for other formats, if the samples have no fixed size, or if `ChunkLayouts` returns
  /// no length or an implausibly large one.
  func statedFrames(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> Int64? {
    let bits = Int64(av_get_exact_bits_per_sample(parameters.pointee.codec_id))
    let frameBits = bits * Int64(parameters.pointee.ch_layout.nb_channels)
    let bytes: Int64? =
      switch kind {
      case .wave(let chunks): chunks.waveDataLength()
      case .coreAudio(let chunks): chunks.coreAudioDataLength()
      case .quickTime, .none: nil
      }
    guard frameBits > 0, let bytes, bytes < .max / 8 else { return nil }
    return bytes * 8 / frameBits
  }
}
