// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import HeadTracking
public import Media

/// A playback or rendering error, with a description for the user.
public enum PlaybackError: Error, Sendable, Equatable, CustomStringConvertible {
  case media(MediaError)
  case hrtf(HRTFError)
  case tracking(HeadTrackingError)
  /// The sound server or an output cannot be used, for the given reason.
  case output(String)
  /// The direct decoder was requested for a source without a loudspeaker layout.
  case directNeedsSpeakers
  /// The parametric decoder was requested for a source that is not a first-order soundfield.
  case notFirstOrder
  /// The parametric decoder was requested for loudspeakers.
  case parametricNeedsHeadphones
  /// The head size of the named HRTF set is unknown.
  case noHeadSize(String)
  /// The decoder cannot be replaced during playback, because the delay of the new decoder differs.
  case decoderIsLater
  /// A mix was requested, but the source has or may get this layout, which is not a soundfield of
  /// order 1 or higher.
  case mixNeedsSoundfield(ChannelLayout)
  /// The mix tuning cannot be used, for the given reason.
  case mixTuning(path: String, reason: String)
  /// The neural separator cannot be used or has failed, for the given reason.
  case neuralSeparator(String)
  case opening(SoundOpeningError)
  /// A presentation cannot be played, for the given reason.
  case stream(String)
  /// The caller interrupted the operation.
  case interrupted

  public var description: String { text(naming: \.rawValue) }

  /// Returns the description, in which `name` supplies the names of settings.
  package func text(naming name: (NamedSetting) -> String) -> String {
    switch self {
    case .media(let error): error.text(layoutSetting: name(.layout))
    case .hrtf(let error): error.description
    case .tracking(let error): error.description
    case .output(let reason): reason
    case .opening(let error): error.description
    case .directNeedsSpeakers:
      "the decoder 'direct' plays only mono, stereo and loudspeaker layouts, "
        + "but the source is ambisonic; choose another decoder, "
        + "or treat the channels as loudspeakers with \(name(.layout))"
    case .notFirstOrder:
      "\(name(.decoder)) parametric works only with first-order ambisonics; "
        + "choose magls for this source"
    case .parametricNeedsHeadphones:
      "the decoder 'parametric' works only with headphones; choose magls for loudspeakers"
    case .noHeadSize(let set):
      "the head size cannot be estimated from the HRTF set \(set); "
        + "leave out \(name(.headCircumference))"
    case .decoderIsLater:
      "the parametric decoder has a longer delay than the others, so playback cannot switch to or "
        + "from it; to change the decoder, start playback again with \(name(.decoder))"
    case .mixNeedsSoundfield(let layout):
      "only soundfields of order 1 or higher can be separated, but the layout of the source is or "
        + "may become '\(layout.name)'; choose a soundfield, or, if the channels contain a "
        + "soundfield, name its layout with \(name(.layout))"
    case .mixTuning(let path, let reason):
      "cannot use the mix tuning in '\(path)': \(reason); "
        + "name another file with \(name(.mixTuning)), or 'off' for no tuning"
    case .neuralSeparator(let reason):
      "the neural separator failed: \(reason), or use the spatial separator"
    case .stream(let reason): reason
    case .interrupted: "interrupted"
    }
  }

  package init(_ error: HRTFError) {
    self = error == .interrupted ? .interrupted : .hrtf(error)
  }

  package init(_ error: MediaError) {
    if case .interrupted = error { self = .interrupted } else { self = .media(error) }
  }
}

/// A setting that a message mentions. The raw value is its default name.
package enum NamedSetting: String {
  case layout = "the layout"
  case track
  case decoder = "the decoder"
  case headCircumference = "the head circumference"
  case mix = "the mix"
  case mixTuning = "the mix tuning"
  /// The preferred renditions: multichannel or stereo.
  case preference = "the preference"
  case maximumBitRate = "the highest bit rate"
}
