// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import AudioMix
public import Binaural
public import Media

/// The kinds of sources that are rendered spatially. All others play as plain stereo.
public enum Spatialization: String, Sendable, CaseIterable {
  case monoAndStereo = "mono-stereo"
  case multichannel
  case all
  case off

  /// Whether a source with this layout is rendered spatially.
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
  /// Two loudspeakers, such as those of a laptop, in front of a listener who keeps still. Crosstalk
  /// between the ears is cancelled. `angle` is the angle from the front to either loudspeaker, in
  /// radians.
  case loudspeakers(angle: Double)

  /// Loudspeakers at 12 degrees to either side of the front, such as two that are 23 cm apart and
  /// 55 cm from the listener.
  public static let laptop = PlaybackDevice.loudspeakers(angle: 12 * .pi / 180)
}

/// The conversion of stereo to 5.1, with the centre in front and the ambience around the listener.
public enum Upmix: String, Sendable, CaseIterable {
  case on
  /// No conversion: stereo plays as a pair of loudspeakers in front. Matrix-encoded stereo is still
  /// decoded.
  case off
  /// Conversion with a delay of at most 21.3 ms instead of 42.6 ms, and with coarser separation.
  /// Sources that are read ahead do not need this setting.
  case lowLatency = "low-latency"
}

/// Settings that determine how a source is rendered, by `play` and `render` alike.
public struct RenderSettings: Sendable, Equatable {
  /// The path of the SOFA file. Default: nil, which selects libmysofa's default set, or the
  /// built-in rigid sphere if that set is missing or cannot be read.
  public var hrtfPath: String?
  /// The equalisation of the HRTF set's own coloration. Default: none.
  public var equalisation = DecoderDesign.Equalisation.none
  /// The decoder design. Default: MagLS.
  public var method = DecoderDesign.Method.magnitudeLeastSquares
  /// Whether each loudspeaker channel is convolved with responses that are interpolated for its
  /// direction, instead of being encoded into a soundfield. Ambisonic sources are then an error.
  /// Default: false.
  public var isDirect = false
  /// Whether first-order soundfields are decoded as plane waves plus a residual
  /// (`ParametricDecoder`). Other sources are then an error. Default: false.
  public var isParametric = false
  /// The order of the soundfield that loudspeaker channels are encoded into, 1 to 7. Default: 5.
  public var busOrder = 5
  /// The device that plays the sound; it may change during playback. Head tracking should be off
  /// for loudspeakers. Default: headphones.
  public var playback = PlaybackDevice.headphones
  /// The equalisation that makes the headphones neutral; not used for loudspeakers. Default: nil.
  public var headphones: HeadphoneProfile?
  /// The circumference of the listener's head, in metres. The interaural delays of the HRTF set are
  /// scaled to this size. Default: nil, which keeps the delays.
  public var headCircumference: Double?
  /// The interpretation of the channels. Default: as the container states.
  public var layout = LayoutOption.auto
  /// The audio track, counted from 1. Default: nil, which selects the richest track that can be
  /// decoded.
  public var track: Int?
  /// The kinds of sources that are rendered spatially. Default: all.
  public var spatialization = Spatialization.all
  /// How the level metadata of AC-3, E-AC-3 and AAC is applied. Default: line mode.
  public var dynamicRange = DynamicRange.line
  /// The target loudness of every source at the ears during playback, in LUFS. Default: nil, which
  /// leaves the loudness unchanged. To render to a file, measure the loudness first with
  /// `OfflineRenderer.measureLoudness`.
  public var loudness: Double?
  /// The conversion of stereo to 5.1. It applies only to stereo that is rendered spatially and has
  /// no matrix encoding that can be decoded. Default: on.
  public var upmix = Upmix.on
  /// How the speech and the ambience of a soundfield are mixed again. Other sources are then an
  /// error. Default: nil, which leaves the sound unchanged.
  public var mix: MixSettings?
  /// The output gain, in dB. Default: 0.
  public var gainDecibels = 0.0
  /// The number of frames in a block, 1 to 8192. Default: 256.
  public var blockFrames = 256

  public init() {}
}
