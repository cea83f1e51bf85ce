// SPDX-License-Identifier: Apache-2.0

public import Binaural
public import HeadTracking
public import Media

/// Why something could not be played or rendered. The description is one line for the user.
public enum PlaybackError: Error, Sendable, Equatable, CustomStringConvertible {
  case media(MediaError)
  case hrtf(HRTFError)
  case tracking(HeadTrackingError)
  /// The sound server, or the way to it, failed, with the reason.
  case output(String)
  /// A soundfield has no loudspeakers that could be played directly.
  case directNeedsSpeakers
  /// The parametric decoder was asked for, and the source is no first-order soundfield.
  case notFirstOrder
  /// The parametric decoder has no filters that crosstalk could be cancelled in.
  case parametricNeedsHeadphones
  /// The named set's delays are not those of a head.
  case noHeadSize(String)
  /// A decoder that analyses the sound cannot follow one that does not, nor the other way round.
  case decoderIsLater
  case opening(SoundOpeningError)
  /// A presentation that is fetched while it is played cannot be had, with the reason.
  case stream(String)
  /// Ended by the caller's interrupt.
  case interrupted

  public var description: String { text(naming: \.rawValue) }

  /// The description with the user's own names of settings, such as a program's options.
  package func text(naming name: (NamedSetting) -> String) -> String {
    switch self {
    case .media(let error): error.text(layoutSetting: name(.layout))
    case .hrtf(let error): error.description
    case .tracking(let error): error.description
    case .output(let reason): reason
    case .opening(let error): error.description
    case .directNeedsSpeakers:
      "the decoder 'direct' plays loudspeakers, mono and stereo, and the source is ambisonic; "
        + "take one of the other decoders, or read the channels as loudspeakers with "
        + name(.layout)
    case .notFirstOrder:
      "\(name(.decoder)) parametric is for first-order ambisonics (4 channels): "
        + "choose magls for this source"
    case .parametricNeedsHeadphones:
      "the decoder 'parametric' is for headphones: choose magls for loudspeakers"
    case .noHeadSize(let set):
      "the HRTF set \(set) does not tell the size of its head: "
        + "leave \(name(.headCircumference)) out"
    case .decoderIsLater:
      "the parametric decoder is later than the others: begin anew with \(name(.decoder))"
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

/// A setting that the text of an error or of an offer names. The raw value is its name where a
/// program has none of its own.
package enum NamedSetting: String {
  case layout = "the layout"
  case track
  case decoder = "the decoder"
  case headCircumference = "the head circumference"
  /// What is taken of a presentation: multichannel or stereo.
  case preference = "the preference"
  case maximumBitRate = "the highest bit rate"
}
