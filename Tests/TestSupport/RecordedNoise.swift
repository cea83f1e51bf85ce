// SPDX-License-Identifier: Apache-2.0

private import System

/// Noise whose every sample follows from its place, so that any part of a recording can be checked.
public struct RecordedNoise: Sendable {
  public let channels: Int
  /// Whether the samples have 24 bits; otherwise they have all bits of a Float32.
  public let isInteger: Bool

  public init(channels: Int, isInteger: Bool) {
    self.channels = channels
    self.isInteger = isInteger
  }

  /// The sample, in the range from -1 to 1.
  public func sample(frame: Int, channel: Int) -> Float {
    let bits = SeededGenerator.value(at: UInt64(frame * channels + channel))
    let value = Int32(truncatingIfNeeded: bits)
    guard isInteger else { return Float(value) * 0x1p-31 }
    return Float(value >> 8) * 0x1p-23
  }

  /// Frames x channels from `start` on.
  public func interleaved(from start: Int, frames: Int) -> [Float] {
    (start..<start + frames).flatMap { frame in
      (0..<channels).map { sample(frame: frame, channel: $0) }
    }
  }
}
