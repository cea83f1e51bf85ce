// SPDX-License-Identifier: Apache-2.0

import HLS

/// Some time of playing in which one rendition was heard.
package struct HeardStretch: Sendable, Equatable {
  /// s.
  package var start: Double
  /// s.
  package var seconds: Double
  /// Nil: playing stood still.
  package var rendition: Int?
}

/// What happened in a simulation. Times are s from opening the presentation.
package struct SimulationResult: Sendable {
  package struct Request: Sendable, Equatable {
    var time: Double
    var segment: Int
    var rendition: Int
  }

  /// From the first sound on, without gaps.
  package var heard: [HeardStretch] = []
  package var requests: [Request] = []
  /// s of sound that were buffered, over time.
  package var buffer: [(time: Double, seconds: Double)] = []
  /// Nil: nothing was heard.
  package var startSeconds: Double?
  package var fetchedBits = 0.0
  /// Of these, what was never heard: abandoned downloads, replacements that came to nothing.
  package var wastedBits = 0.0
}
