// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Media

/// Which sources are rendered spatially; the others play as plain stereo.
public enum Spatialization: String, Sendable, CaseIterable {
  case monoAndStereo = "mono-stereo"
  case multichannel
  case all
  case off

  /// Whether a source of this layout is rendered spatially.
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
  /// Whether the layout is something other than mono or stereo.
  package var isMultichannel: Bool { self != .mono && self != .stereo }
}

/// The device that plays the rendered sound.
public enum PlaybackDevice: Sendable, Equatable {
  case headphones
  /// Two loudspeakers in front of a listener who keeps still, as in a laptop, with crosstalk
  /// cancellation. `angle` is the angle from the front to either loudspeaker, in radians.
  case loudspeakers(angle: Double)

  /// Loudspeakers 12 degrees to either side of the front: 23 cm apart, 55 cm away.
  public static let laptop = PlaybackDevice.loudspeakers(angle: 12 * .pi / 180)
}

/// Whether stereo is converted to 5.1, with the centre in front and the ambience around.
public enum Upmix: String, Sendable, CaseIterable {
  case on
  /// No conversion: stereo plays as a pair of loudspeakers in front.
  case off
  /// Delays the sound by at most 21.4 ms instead of 42.6 ms, with coarser separation. Sources that
  /// are read ahead do not need it.
  case lowLatency = "low-latency"
}

/// How a source is rendered; the same for `play` and `render`.
public struct RenderSettings: Sendable, Equatable {
  /// Path of the SOFA file. Default: nil, which selects libmysofa's default set, or the built-in
  /// rigid sphere if that is missing.
  public var hrtfPath: String?
  /// How the coloration of the HRTF set is equalised. Default: not at all.
  public var equalisation = DecoderDesign.Equalisation.none
  /// The decoder design. Default: MagLS.
  public var method = DecoderDesign.Method.magnitudeLeastSquares
  /// Whether loudspeaker channels are convolved with interpolated responses of their own
  /// directions, without a soundfield. Ambisonic sources are then an error. Default: false.
  public var isDirect = false
  /// Whether first-order soundfields are decoded as plane waves plus a residual
  /// (`ParametricDecoder`). Other sources are then an error. Default: false.
  public var isParametric = false
  /// Order of the soundfield that loudspeaker channels are encoded to, 1 to 7. Default: 5.
  public var busOrder = 5
  /// The device that plays the sound. Default: headphones. It can change during playback. Head
  /// tracking should be off for loudspeakers.
  public var playback = PlaybackDevice.headphones
  /// Equalisation that makes the headphones neutral; not used for loudspeakers. Default: none.
  public var headphones: HeadphoneProfile?
  /// Circumference of the listener's head, in metres. The interaural delays of the HRTF set are
  /// scaled to it. Default: nil, which keeps the delays.
  public var headCircumference: Double?
  /// How the channels are interpreted. Default: as the container states.
  public var layout = LayoutOption.auto
  /// The audio track, counted from 1. Default: nil, which selects the richest track that can be
  /// decoded.
  public var track: Int?
  /// Which sources are rendered spatially. Default: all.
  public var spatialization = Spatialization.all
  /// How the dynamic range metadata of AC-3 and E-AC-3 is applied. Default: line mode.
  public var dynamicRange = DynamicRange.line
  /// Loudness at the ears that every source is brought to during playback, in LUFS. Default: nil,
  /// which leaves it unchanged. To render to a file, measure first with
  /// `OfflineRenderer.measureLoudness`.
  public var loudness: Double?
  /// The conversion of stereo to 5.1. Default: on, for stereo that is rendered spatially.
  public var upmix = Upmix.on
  /// Output gain, in dB. Default: 0.
  public var gainDecibels = 0.0
  /// Frames in a block, 1 to 8192. Default: 256.
  public var blockFrames = 256

  public init() {}
}
