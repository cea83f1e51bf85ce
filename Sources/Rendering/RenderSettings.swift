// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import AudioMix
public import Binaural
public import Media

/// The layouts that are rendered spatially. Other layouts play as plain stereo.
public enum Spatialization: String, Sendable, CaseIterable {
  case monoAndStereo = "mono-stereo"
  case multichannel
  case all
  case off

  /// Returns whether sound with a layout is rendered spatially, provided that it was not made for
  /// headphones.
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
  /// Whether the layout is neither mono nor stereo.
  package var isMultichannel: Bool { self != .mono && self != .stereo }
}

/// The device that plays the rendered sound.
public enum PlaybackDevice: Sendable, Equatable {
  case headphones
  /// Two loudspeakers in front of the listener, with crosstalk cancellation. `angle` is the angle
  /// from the front to either loudspeaker, in radians.
  case loudspeakers(angle: Double)

  /// Loudspeakers at 12 degrees to either side of the front.
  public static let laptop = PlaybackDevice.loudspeakers(angle: 12 * .pi / 180)
}

/// The conversion of stereo to 5.1.
public enum Upmix: String, Sendable, CaseIterable {
  case on
  /// No conversion. Matrix-encoded stereo is still decoded.
  case off
  /// Conversion with an analysis window of about 21 ms instead of 43 ms, and therefore with coarser
  /// separation. For live sound, the window is also the delay.
  case lowLatency = "low-latency"
}

/// Settings for rendering a source.
public struct RenderSettings: Sendable, Equatable {
  /// The path of a SOFA file. Default: nil, which selects libmysofa's default set, or a rigid
  /// sphere if that set cannot be used.
  public var hrtfPath: String?
  /// The equalisation of the HRTF set's diffuse-field response. Default: none.
  public var equalisation = DecoderDesign.Equalisation.none
  /// The decoder design. Default: MagLS.
  public var method = DecoderDesign.Method.magnitudeLeastSquares
  /// Whether loudspeaker channels are decoded directly, without a soundfield. Ambisonic sources
  /// then cause an error. Default: false.
  public var isDirect = false
  /// Whether first-order soundfields are decoded by `ParametricDecoder`. Other sources and playback
  /// through loudspeakers then cause an error. Default: false.
  public var isParametric = false
  /// The order of the soundfield that loudspeaker channels are encoded into, 1 to 7. Default: 5.
  public var busOrder = 5
  /// The device that plays the sound. Head tracking should be off for loudspeakers. Default:
  /// headphones.
  public var playback = PlaybackDevice.headphones
  /// The headphone equalisation; not used for loudspeakers. Default: nil.
  public var headphones: HeadphoneProfile?
  /// The circumference of the listener's head, in metres. The interaural delays of the HRTF set are
  /// scaled to it. Default: nil, which means no scaling.
  public var headCircumference: Double?
  /// The interpretation of the channels. Default: `.auto`.
  public var layout = LayoutOption.auto
  /// The audio track, counted from 1. Default: nil, which means automatic selection.
  public var track: Int?
  /// The layouts that are rendered spatially. Default: all.
  public var spatialization = Spatialization.all
  /// How the level metadata of AC-3, E-AC-3 and AAC is applied. Default: line mode.
  public var dynamicRange = DynamicRange.line
  /// The target loudness at the ears during playback, in LUFS. Default: nil, which leaves the
  /// loudness unchanged.
  public var loudness: Double?
  /// The conversion of stereo to 5.1. Default: on.
  public var upmix = Upmix.on
  /// The mix of the speech and the ambience of a soundfield. Default: nil, which leaves the sound
  /// unchanged.
  public var mix: MixSettings?
  /// The output gain, in dB. Default: 0.
  public var gainDecibels = 0.0
  /// The number of frames in a block, 1 to 8192. Default: 256.
  public var blockFrames = 256

  public init() {}
}
