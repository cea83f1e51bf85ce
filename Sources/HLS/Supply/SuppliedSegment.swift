// SPDX-License-Identifier: Apache-2.0

/// A complete segment that was fetched, decrypted and checked.
public struct SuppliedSegment: Sendable, Equatable {
  /// Name for messages: the last part of the segment's address.
  public var name: String
  /// Media sequence number in the playlist of the rendition.
  public var sequence: Int
  /// Discontinuity number. Segments with the same number have continuous timestamps and the same
  /// codec and format.
  public var discontinuity = 0
  /// Initialisation section, to be read before `bytes`; empty if there is none. Segments belong to
  /// one coded stream only if they have the same initialisation section and the same discontinuity
  /// number.
  public var initialisation: [UInt8] = []
  public var bytes: [UInt8]
  public var format: SegmentFormat

  /// Time of the first sample, from an ID3 tag, in s. Nil if there is no such tag or if the
  /// container has timestamps of its own.
  public var taggedTime: Double? {
    switch format {
    case .aac, .ac3, .mpegAudio: ID3Tag.timestamp(bytes).map { Double($0) / 90_000 }
    case .transportStream, .fragmentedMP4: nil
    }
  }

  /// Period after which timestamps of this container wrap, in s; nil if they do not wrap.
  public var timeCycle: Double? {
    format == .fragmentedMP4 ? nil : Double(1 << 33) / 90_000
  }
}
