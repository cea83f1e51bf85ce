// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// The channel layout changes that a codec and its container allow in mid-stream.
struct LayoutChanges: Equatable {
  let arePossible: Bool
  /// The layouts to expect later in the stream; empty if none is known.
  let expected: [ChannelLayout]

  private static let front: [Speaker] = [.frontLeft, .frontRight, .frontCenter, .lowFrequency]
  /// 5.1 with side surrounds (`sides`) or back surrounds (`backs`).
  private static let sides = ChannelLayout.speakers(front + [.sideLeft, .sideRight])
  private static let backs = ChannelLayout.speakers(front + [.backLeft, .backRight])

  init(codec: AVCodecID, format: ContainerFormat, isMultichannel: Bool) {
    let largest: ChannelLayout?
    switch codec {
    // The bitstreams of these codecs state the number of channels repeatedly.
    case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_DTS, AV_CODEC_ID_TRUEHD, AV_CODEC_ID_MLP:
      (arePossible, largest) = (true, Self.sides)
    case AV_CODEC_ID_AAC, AV_CODEC_ID_AAC_LATM: (arePossible, largest) = (true, Self.backs)
    case AV_CODEC_ID_MP1, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3: (arePossible, largest) = (true, nil)
    // In chained Ogg files (RFC 3533, section 4), each stream starts with its own headers.
    case AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS, AV_CODEC_ID_FLAC:
      (arePossible, largest) = (format == .ogg, Self.backs)
    default: (arePossible, largest) = (false, nil)
    }
    // A bare AC-3, E-AC-3 or DTS stream may have been extracted from a broadcast.
    let isBroadcast = [.transportStream, .bareDolby, .bareDTS].contains(format)
    expected =
      arePossible && (isMultichannel || isBroadcast) ? [largest].compactMap(\.self) : []
  }
}
