// SPDX-License-Identifier: Apache-2.0

/// Finds the frames of a profile in the data from a link. With `message` and `controllers`, each
/// piece of the data must be a frame. Otherwise, the data may be divided into pieces in any way.
package struct FrameSplitter: Sendable {
  private let framing: TrackerProfile.Framing
  /// Bytes that do not form a complete frame yet.
  private(set) var rest: [UInt8] = []
  /// Whether the latest bytes belonged to a frame.
  private var isInStep = false
  /// Whether the present text frame is skipped, because its beginning may have been missed or the
  /// frame is too long.
  private var isSkipping = true

  /// The longest text frame, in bytes.
  static let longestText = 1024

  package init(_ framing: TrackerProfile.Framing) { self.framing = framing }

  /// Returns the complete frames, oldest first, and the number of errors: interruptions of a
  /// sequence of binary frames by other bytes, or text frames that are too long.
  ///
  /// The bytes before the first frame are not an interruption, because a stream can begin anywhere.
  package mutating func take(_ piece: [UInt8]) -> (frames: [[UInt8]], rejectedCount: Int) {
    switch framing {
    case .message, .controllers: (piece.isEmpty ? [] : [piece], 0)
    case .binary(let framing): binary(piece, framing)
    case .text(let separator): text(piece, separator)
    }
  }

  private mutating func binary(
    _ piece: [UInt8], _ framing: TrackerProfile.BinaryFraming
  ) -> (frames: [[UInt8]], rejectedCount: Int) {
    let bytes = rest + piece
    var frames: [[UInt8]] = []
    var (at, rejected) = (0, 0)
    while at < bytes.count {
      let known = min(framing.sync.count, bytes.count - at)
      var isFrame = bytes[at..<at + known].elementsEqual(framing.sync.prefix(known))
      if isFrame {
        guard at + framing.length <= bytes.count else { break }
        let frame = Array(bytes[at..<at + framing.length])
        isFrame = framing.accepts(frame)
        if isFrame { frames.append(frame) }
      }
      if isFrame {
        at += framing.length
      } else {
        if isInStep { rejected += 1 }
        at += 1
      }
      isInStep = isFrame
    }
    rest = Array(bytes[at...])
    return (frames, rejected)
  }

  private mutating func text(
    _ piece: [UInt8], _ separator: UInt8
  ) -> (frames: [[UInt8]], rejectedCount: Int) {
    var frames: [[UInt8]] = []
    var rejected = 0
    for part in piece.split(separator: separator, omittingEmptySubsequences: false).enumerated() {
      if part.offset > 0 {
        if !isSkipping, !rest.isEmpty { frames.append(rest) }
        rest = []
        isSkipping = false
      }
      guard !isSkipping else { continue }
      rest += part.element
      if rest.count > Self.longestText {
        rest = []
        rejected += 1
        isSkipping = true
      }
    }
    return (frames, rejected)
  }
}
