// SPDX-License-Identifier: Apache-2.0

import HLS

/// Some time of playing in which one rendition was heard.
struct HeardStretch: Sendable, Equatable {
  /// s.
  var start: Double
  /// s.
  var seconds: Double
  /// Nil: playing stood still.
  var rendition: Int?
}

/// What happened in a simulation. Times are s from opening the presentation.
struct SimulationResult: Sendable {
  struct Request: Sendable, Equatable {
    var time: Double
    var segment: Int
    var rendition: Int
  }

  /// From the first sound on, without gaps.
  var heard: [HeardStretch] = []
  var requests: [Request] = []
  /// s of sound that were buffered, over time.
  var buffer: [(time: Double, seconds: Double)] = []
  /// Nil: nothing was heard.
  var startSeconds: Double?
  var fetchedBits = 0.0
  /// Of these, what was never heard: abandoned downloads, replacements that came to nothing.
  var wastedBits = 0.0
}
