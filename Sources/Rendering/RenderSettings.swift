// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Media

/// Which sources are made spatial; the rest plays as plain stereo.
public enum Spatialization: String, Sendable, CaseIterable {
  case monoAndStereo = "mono-stereo"
  case multichannel
  case all
  case off

  /// Whether a source of this layout is made spatial.
  public func includes(_ layout: ChannelLayout) -> Bool {
    switch self {
    case .monoAndStereo: !layout.isMultichannel
    case .multichannel: layout.isMultichannel
    case .all: true
    case .off: false
    }
  }
}

extension ChannelLayout {
  /// Whether it has more than mono or stereo to give.
  package var isMultichannel: Bool { self != .mono && self != .stereo }
}

/// What the rendered sound comes to the ears from.
public enum PlaybackDevice: Sendable, Equatable {
  case headphones
  /// Two loudspeakers in front of a listener who keeps still, as in a laptop; crosstalk between
  /// them is cancelled. `angle` is from the front to either, in radians.
  case loudspeakers(angle: Double)

  /// Loudspeakers 12 degrees to either side: 23 cm apart, 55 cm away.
  public static let laptop = PlaybackDevice.loudspeakers(angle: 12 * .pi / 180)
}

/// Whether stereo goes through 5.1: the centre in front, the ambience around.
public enum Upmix: String, Sendable, CaseIterable {
  case on
  /// A plain pair in front.
  case off
  /// At most 21.4 ms late instead of 42.6, and split more coarsely; sources that are read ahead
  /// need it not.
  case lowLatency = "low-latency"
}

/// How a source is rendered; the same for `play` and `render`.
public struct RenderSettings: Sendable, Equatable {
  /// SOFA file; nil for libmysofa's default set, else the built-in rigid sphere.
  public var hrtfPath: String?
  /// What becomes of the set's own colour. Default: kept.
  public var equalisation = DecoderDesign.Equalisation.none
  /// Default: MagLS.
  public var method = DecoderDesign.Method.magnitudeLeastSquares
  /// Loudspeakers through interpolated responses of their own directions instead of the soundfield;
  /// ambisonic sources are refused. Default: false.
  public var isDirect = false
  /// Whether first-order soundfields are decoded as plane waves and what remains
  /// (`ParametricDecoder`); other sources are refused then. Default: no.
  public var isParametric = false
  /// Order of the soundfield that speakers are encoded to, 1 to 7. Default: 5.
  public var busOrder = 5
  /// What plays it. Default: headphones. It can change while playing; loudspeakers want a head that
  /// is not followed.
  public var playback = PlaybackDevice.headphones
  /// What makes the headphones neutral; not for loudspeakers. Default: nothing.
  public var headphones: HeadphoneProfile?
  /// Metres: the listener's head, to which the times between the set's ears are brought. Default:
  /// as the set's.
  public var headCircumference: Double?
  /// How to read the channels. Default: as the container says.
  public var layout = LayoutOption.auto
  /// Of several audio tracks, from 1; nil for the richest that can be decoded.
  public var track: Int?
  /// Default: all sources.
  public var spatialization = Spatialization.all
  /// What becomes of the words on level in AC-3 and E-AC-3. Default: line mode.
  public var dynamicRange = DynamicRange.line
  /// LUFS at the ears that every source is brought to while it is played; nil (default): it stays
  /// as it is. A render is measured first instead, with `OfflineRenderer.measureLoudness`.
  public var loudness: Double?
  /// Default: stereo that is made spatial goes through 5.1.
  public var upmix = Upmix.on
  /// Default: 0 dB.
  public var gainDecibels = 0.0
  /// Frames of a block, 1 to 8192. Default: 256.
  public var blockFrames = 256

  public init() {}
}
