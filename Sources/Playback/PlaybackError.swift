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
