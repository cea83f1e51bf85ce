// SPDX-License-Identifier: Apache-2.0

public import Binaural
public import HeadTracking
public import Media
public import PulseAudio

/// Why something could not be played or rendered. The description is one line for the user.
public enum PlaybackError: Error, Sendable, CustomStringConvertible {
  case media(MediaError)
  case hrtf(HRTFError)
  case tracking(HeadTrackingError)
  case sound(PulseAudioError)
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
  /// A presentation that is fetched while it is played cannot be had, with the reason.
  case stream(String)
  /// Ended by the caller's interrupt.
  case interrupted

  public var description: String {
    switch self {
    case .media(let error): error.description
    case .hrtf(let error): error.description
    case .tracking(let error): error.description
    case .sound(let error): error.description
    case .directNeedsSpeakers:
      "the decoder 'direct' plays loudspeakers, mono and stereo, and the source is ambisonic; "
        + "take one of the other decoders, or read the channels as loudspeakers with --layout"
    case .notFirstOrder:
      "--decoder parametric is for first-order ambisonics (4 channels): choose magls for this source"
    case .parametricNeedsHeadphones:
      "the decoder 'parametric' is for headphones: choose magls for loudspeakers"
    case .noHeadSize(let name):
      "the HRTF set \(name) does not tell the size of its head: leave --head-circumference out"
    case .decoderIsLater:
      "the parametric decoder is later than the others: begin anew with --decoder"
    case .stream(let reason): reason
    case .interrupted: "interrupted"
    }
  }

  init(_ error: HRTFError) {
    self = error == .interrupted ? .interrupted : .hrtf(error)
  }

  init(_ error: MediaError) {
    if case .interrupted = error { self = .interrupted } else { self = .media(error) }
  }
}
