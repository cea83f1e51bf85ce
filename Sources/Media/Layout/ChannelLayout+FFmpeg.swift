// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

extension ChannelLayout {
  /// Converts FFmpeg's layout. Without labels, one channel is mono and two channels are stereo.
  /// Other layouts that cannot be represented become `.unknown`.
  init(_ layout: AVChannelLayout) {
    let channels = Int(layout.nb_channels)
    switch layout.order {
    case AV_CHANNEL_ORDER_AMBISONIC:
      self = Self.ambisonic(channels: channels, nonDiegetic: layout.u.mask)
    case AV_CHANNEL_ORDER_NATIVE, AV_CHANNEL_ORDER_CUSTOM:
      self = Self.labelled(layout) ?? .unknown(channels: channels)
    default:
      self = channels == 1 ? .mono : channels == 2 ? .stereo : .unknown(channels: channels)
    }
  }

  /// Returns the layout of a complete soundfield of order 0 to 7. The mask `nonDiegetic` may add
  /// front left and front right as head-locked stereo. Returns `.unknown` for any other channels.
  private static func ambisonic(channels: Int, nonDiegetic: UInt64) -> ChannelLayout {
    let frontPair: UInt64 = 3
    let extra = nonDiegetic.nonzeroBitCount
    guard extra == 0 || nonDiegetic == frontPair,
      let order = CoreAudioLayout.order(channels - extra)
    else { return .unknown(channels: channels) }
    return .ambisonics(order: order, convention: .ambiX, headLocked: extra == 2)
  }

  private static func labelled(_ layout: AVChannelLayout) -> ChannelLayout? {
    var layout = layout
    let channels = (0..<Int(layout.nb_channels)).map {
      av_channel_layout_channel_from_index(&layout, UInt32($0))
    }
    if channels == [AV_CHAN_STEREO_LEFT, AV_CHAN_STEREO_RIGHT] { return .stereo }
    let speakers = channels.compactMap { Speaker($0) }
    guard speakers.count == channels.count, Set(speakers).count == speakers.count else {
      return nil
    }
    // One channel is mono, whichever loudspeaker its label names.
    return speakers.count == 1 ? .mono : .speakers(speakers)
  }
}

extension Speaker {
  /// Converts FFmpeg's channel; nil if no `Speaker` corresponds to it.
  init?(_ channel: AVChannel) {
    guard let speaker = Self.pairs.first(where: { $0.channel == channel })?.speaker else {
      return nil
    }
    self = speaker
  }

  /// The loudspeaker's bit in `dwChannelMask` of `WAVEFORMATEXTENSIBLE`; nil if it has none.
  var waveMask: UInt32? {
    guard let channel = Self.pairs.first(where: { $0.speaker == self })?.channel,
      (0..<18).contains(channel.rawValue)
    else { return nil }
    return 1 << UInt32(channel.rawValue)
  }

  private static let pairs: [(channel: AVChannel, speaker: Speaker)] = [
    (AV_CHAN_FRONT_LEFT, .frontLeft), (AV_CHAN_FRONT_RIGHT, .frontRight),
    (AV_CHAN_FRONT_CENTER, .frontCenter), (AV_CHAN_LOW_FREQUENCY, .lowFrequency),
    (AV_CHAN_BACK_LEFT, .backLeft), (AV_CHAN_BACK_RIGHT, .backRight),
    (AV_CHAN_FRONT_LEFT_OF_CENTER, .frontLeftOfCenter),
    (AV_CHAN_FRONT_RIGHT_OF_CENTER, .frontRightOfCenter),
    (AV_CHAN_BACK_CENTER, .backCenter), (AV_CHAN_SIDE_LEFT, .sideLeft),
    (AV_CHAN_SIDE_RIGHT, .sideRight), (AV_CHAN_TOP_CENTER, .topCenter),
    (AV_CHAN_TOP_FRONT_LEFT, .topFrontLeft), (AV_CHAN_TOP_FRONT_CENTER, .topFrontCenter),
    (AV_CHAN_TOP_FRONT_RIGHT, .topFrontRight), (AV_CHAN_TOP_BACK_LEFT, .topBackLeft),
    (AV_CHAN_TOP_BACK_CENTER, .topBackCenter), (AV_CHAN_TOP_BACK_RIGHT, .topBackRight),
    (AV_CHAN_TOP_SIDE_LEFT, .topSideLeft), (AV_CHAN_TOP_SIDE_RIGHT, .topSideRight),
    (AV_CHAN_WIDE_LEFT, .wideLeft), (AV_CHAN_WIDE_RIGHT, .wideRight),
    (AV_CHAN_LOW_FREQUENCY_2, .lowFrequency2),
    (AV_CHAN_BOTTOM_FRONT_CENTER, .bottomFrontCenter),
    (AV_CHAN_BOTTOM_FRONT_LEFT, .bottomFrontLeft),
    (AV_CHAN_BOTTOM_FRONT_RIGHT, .bottomFrontRight),
  ]
}
