// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The gains of the stems in a mix.
///
/// The inputs of the mix are:
///
/// - x: the soundfield before the separation
/// - C: the image of all talkers
/// - C_f: the image of the talkers in the field of view
/// - D: the image of all talkers with less late reverberation
/// - S_d: D[W] after the low shelf
///
/// The mix is
///
///     original x + T_s(V) + T_a(B)
///     V = image C + framed C_f + F P
///     P = speech C[W] + studio S_d + framedSpeech C_f[W]
///     B = field x + fieldImage C + fieldFramed C_f + fieldStudio D
///
/// where C[W] is the W channel of C, F = (1, 0, 0, 1) encodes the front, and T_s and T_a apply the
/// tuning of speech and ambience. For `MixTarget.ambienceAndSpeech`, the output is T_a(B) and
/// T_s(P).
struct MixGains: Sendable, Equatable, BitwiseCopyable {
  var original: Float = 0
  var image: Float = 0
  var framed: Float = 0
  var speech: Float = 0
  var studio: Float = 0
  var framedSpeech: Float = 0
  var field: Float = 0
  var fieldImage: Float = 0
  var fieldFramed: Float = 0
  var fieldStudio: Float = 0

  @_noLocks init() {}

  /// Creates the gains of a style.
  ///
  /// - Parameters:
  ///   - amount: 0 to 1.
  ///   - target: must be `.field` if the style is a stem.
  @_noLocks
  init(_ style: MixStyle, amount: Double, target: MixTarget) {
    let quiet = Float(Self.attenuation(style, amount: amount))
    let remainder = Float(1 - amount)
    let isField = target.isField
    switch style {
    case .standard:
      if isField { original = 1 } else { (field, fieldImage, speech) = (1, -1, 1) }
    case .cinematic:
      (field, fieldImage) = (quiet, -quiet)
      if isField { image = remainder }
      speech = isField ? Float(amount) : 1
    case .studio:
      (field, fieldImage) = (quiet, -quiet)
      if isField { image = remainder }
      studio = isField ? Float(amount) : 1
    case .inFrame:
      (field, fieldFramed) = (quiet, -quiet)
      if isField { framed = 1 } else { framedSpeech = 1 }
    case .cinematicForeground: speech = 1
    case .studioForeground: studio = 1
    case .inFrameForeground: framedSpeech = 1
    case .cinematicBackground: (field, fieldImage) = (1, -1)
    case .studioBackground: (field, fieldStudio) = (1, -1)
    case .inFrameBackground: (field, fieldFramed) = (1, -1)
    }
  }

  /// Returns the gain of the ambience in `cinematic`, `studio` or `inFrame`, as a factor. In dB, it
  /// is proportional to the amount. At an amount of 1, it is -30 dB for `studio` and -24 dB for the
  /// other two.
  @_noLocks
  static func attenuation(_ style: MixStyle, amount: Double) -> Double {
    let decibels = if case .studio = style { -30.0 } else { -24.0 }
    return realtime_exp(decibels * amount * 0.11512925464970228)
  }

  /// Returns the linear interpolation between these gains (`share` 0) and `other` (`share` 1).
  @_noLocks
  func mixed(with other: MixGains, share: Float) -> MixGains {
    var gains = self
    gains.original += share * (other.original - original)
    gains.image += share * (other.image - image)
    gains.framed += share * (other.framed - framed)
    gains.speech += share * (other.speech - speech)
    gains.studio += share * (other.studio - studio)
    gains.framedSpeech += share * (other.framedSpeech - framedSpeech)
    gains.field += share * (other.field - field)
    gains.fieldImage += share * (other.fieldImage - fieldImage)
    gains.fieldFramed += share * (other.fieldFramed - fieldFramed)
    gains.fieldStudio += share * (other.fieldStudio - fieldStudio)
    return gains
  }
}
