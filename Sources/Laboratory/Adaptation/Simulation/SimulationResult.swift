// SPDX-License-Identifier: Apache-2.0

import HLS

/// A stretch of playback in one rendition, or a stall.
package struct HeardStretch: Sendable, Equatable {
  /// The start, in s.
  package var start: Double
  /// The duration, in s.
  package var seconds: Double
  /// The index of the rendition in the ladder; nil for a stall.
  package var rendition: Int?
}

/// The record of a simulation. Times are in s from the opening of the presentation.
package struct SimulationResult: Sendable {
  package struct Request: Sendable, Equatable {
    var time: Double
    var segment: Int
    var rendition: Int
  }

  /// The playback from the first sound on, including stalls.
  package var heard: [HeardStretch] = []
  package var requests: [Request] = []
  /// The buffered sound over time, in s.
  package var buffer: [(time: Double, seconds: Double)] = []
  /// The time of the first sound; nil if nothing played.
  package var startSeconds: Double?
  package var fetchedBits = 0.0
  /// The bits of stopped downloads and unused replacements, which `fetchedBits` includes.
  package var wastedBits = 0.0
}
