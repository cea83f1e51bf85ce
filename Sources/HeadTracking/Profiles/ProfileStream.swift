// SPDX-License-Identifier: Apache-2.0

/// Finds the frames in the data from a link, and decodes them.
package struct ProfileStream: Sendable {
  private var splitter: FrameSplitter
  private var decoder: FrameDecoder

  /// - Parameter axes: the mounting of the tracker on the head; nil to use the profile's `axes`.
  package init(_ profile: TrackerProfile, axes: AxisMap? = nil) {
    splitter = FrameSplitter(profile.framing)
    decoder = FrameDecoder(profile, axes: axes)
  }

  /// Decodes a piece of a stream, which may begin and end anywhere, or a complete message.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  /// - Returns: the readings, oldest first, and the number of errors: invalid frames, and the
  ///   errors that `FrameSplitter.take` counts.
  package mutating func decode(
    _ bytes: [UInt8], arrival: Int64
  ) -> (readings: [TrackerReading], rejectedCount: Int) {
    var (frames, rejected) = splitter.take(bytes)
    var readings: [TrackerReading] = []
    for frame in frames {
      if let found = decoder.decode(frame, arrival: arrival) {
        readings += found
      } else {
        rejected += 1
      }
    }
    frames = []
    return (readings, rejected)
  }
}
