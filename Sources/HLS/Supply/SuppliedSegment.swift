// SPDX-License-Identifier: Apache-2.0

/// A segment that was fetched, decrypted if necessary, and checked by `SegmentFormat.problem`.
public struct SuppliedSegment: Sendable, Equatable {
  /// The last part of the segment's address, for messages.
  public var name: String
  /// Media sequence number in the rendition's playlist.
  public var sequence: Int
  /// Discontinuity number (`MediaSegment.discontinuity`).
  public var discontinuity = 0
  /// Initialisation section, to be read before `bytes`; empty if there is none. Segments of one
  /// coded stream have the same initialisation section and discontinuity number.
  public var initialisation: [UInt8] = []
  public var bytes: [UInt8]
  public var format: SegmentFormat

  /// Time of the first sample according to an ID3 tag, in s; nil if there is no such tag, or if the
  /// container has its own timestamps.
  public var taggedTime: Double? {
    switch format {
    case .aac, .ac3, .mpegAudio: ID3Tag.timestamp(bytes).map { Double($0) / 90_000 }
    case .transportStream, .fragmentedMP4: nil
    }
  }

  /// Period after which the timestamps wrap, in s; nil if they do not wrap.
  public var timeCycle: Double? {
    format == .fragmentedMP4 ? nil : Double(1 << 33) / 90_000
  }
}
