// SPDX-License-Identifier: Apache-2.0

/// The meaning of a stream's channels, in stream order.
public enum ChannelLayout: Sendable, Equatable {
  /// A soundfield of order 0 to 7 in (order + 1)^2 channels. If `headLocked` is true, two more
  /// channels come after them: head-locked stereo, left and right [RFC 8486].
  case ambisonics(order: Int, convention: AmbisonicConvention, headLocked: Bool)
  /// Loudspeakers, one per channel.
  case speakers([Speaker])
  /// Channels that no other case describes, such as those of a multichannel file without a
  /// channel layout.
  case unknown(channels: Int)

  public static let mono = ChannelLayout.speakers([.frontCenter])
  public static let stereo = ChannelLayout.speakers([.frontLeft, .frontRight])

  /// The number of channels, including head-locked stereo.
  public var channelCount: Int {
    switch self {
    case .ambisonics(let order, _, let headLocked):
      (order + 1) * (order + 1) + (headLocked ? 2 : 0)
    case .speakers(let speakers): speakers.count
    case .unknown(let channels): channels
    }
  }
}

/// The channel order and the scale of ambisonic channels.
public enum AmbisonicConvention: Sendable, Equatable {
  /// ACN order, SN3D scale (AmbiX): the convention that Stillstage uses internally.
  case ambiX
  /// ACN order, N3D scale.
  case n3d
  /// FuMa channel order and scale, for ambisonic orders 0 to 3; see `FuMa`.
  case fuMa
}

/// A loudspeaker position. The cases have the names of FFmpeg's channels.
public enum Speaker: Sendable, Equatable, Hashable, CaseIterable {
  case frontLeft, frontRight, frontCenter, lowFrequency
  case backLeft, backRight, frontLeftOfCenter, frontRightOfCenter, backCenter
  case sideLeft, sideRight
  case topCenter, topFrontLeft, topFrontCenter, topFrontRight
  case topBackLeft, topBackCenter, topBackRight, topSideLeft, topSideRight
  case wideLeft, wideRight, lowFrequency2
  case bottomFrontCenter, bottomFrontLeft, bottomFrontRight
}
