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
  /// The parametric decoder was asked for, and the source is no first-order soundfield.
  case notFirstOrder
  /// Ended by the caller's interrupt.
  case interrupted

  public var description: String {
    switch self {
    case .media(let error): error.description
    case .hrtf(let error): error.description
    case .tracking(let error): error.description
    case .sound(let error): error.description
    case .notFirstOrder:
      "--decoder parametric is for first-order ambisonics (4 channels): choose magls for this source"
    case .interrupted: "interrupted"
    }
  }

  init(_ error: MediaError) {
    if case .interrupted = error { self = .interrupted } else { self = .media(error) }
  }
}
