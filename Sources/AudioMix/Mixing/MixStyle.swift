// SPDX-License-Identifier: Apache-2.0

/// A way to mix separated speech and ambience; docs/audio-mix.md gives the formulas.
public enum MixStyle: String, Sendable, Equatable, CaseIterable {
  /// The original sound.
  case standard
  /// Speech comes from the front, and the ambience is quieter.
  case cinematic
  /// Like `cinematic`, but with less reverberation and more bass in the speech, and with a quieter
  /// ambience.
  case studio
  /// Everything except the talkers in the camera's field of view is quieter.
  case inFrame = "in-frame"
  case cinematicForeground = "cinematic-foreground"
  case cinematicBackground = "cinematic-background"
  case studioForeground = "studio-foreground"
  case studioBackground = "studio-background"
  case inFrameForeground = "in-frame-foreground"
  case inFrameBackground = "in-frame-background"

  /// Whether the style is a single stem. The amount has no effect on a stem.
  public var isStem: Bool {
    switch self {
    case .standard, .cinematic, .studio, .inFrame: false
    default: true
    }
  }

  /// The next style that is not a stem. `standard` follows `inFrame` and each stem.
  public var next: MixStyle {
    switch self {
    case .standard: .cinematic
    case .cinematic: .studio
    case .studio: .inFrame
    default: .standard
    }
  }
}

/// The output channels of a mix.
public enum MixTarget: Sendable, Equatable {
  /// A soundfield with the same channels as the input.
  case field
  /// Ambience as a first-order soundfield (W, Y, Z, X), then speech in one channel.
  case ambienceAndSpeech

  /// Whether the mix is a soundfield. Use this property in real-time code: in debug builds, the
  /// compiler reports `== .field` as a possible lock.
  var isField: Bool {
    @_noLocks get {
      switch self {
      case .field: true
      case .ambienceAndSpeech: false
      }
    }
  }
}

/// The parameters of a mix.
public struct MixSettings: Sendable, Equatable {
  public var style: MixStyle
  /// How far the style is applied, 0 to 1. Default: 0.5.
  public var amount: Double
  /// The camera's horizontal field of view, centred on the front, in radians. Default: 70 degrees.
  public var fieldOfView: Double
  /// The corrections of speech and ambience. Default: none.
  public var tuning: MixTuning
  /// The files of the neural separator; nil for the spatial separator alone. Default: nil.
  public var neural: NeuralSeparatorFiles?

  public init(
    style: MixStyle, amount: Double = 0.5, fieldOfView: Double = 70 * .pi / 180,
    tuning: MixTuning = MixTuning(), neural: NeuralSeparatorFiles? = nil
  ) {
    (self.style, self.amount) = (style, amount)
    (self.fieldOfView, self.tuning, self.neural) = (fieldOfView, tuning, neural)
  }

  /// The accepted fields of view, in degrees.
  public static let fieldOfViewDegrees = 10.0...360.0
}
