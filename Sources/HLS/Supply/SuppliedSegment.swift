// SPDX-License-Identifier: Apache-2.0

/// A segment that is at hand, whole, decrypted and looked at.
public struct SuppliedSegment: Sendable, Equatable {
  /// As it is called in messages: the last part of its address.
  public var name: String
  /// Its media sequence number in its own playlist.
  public var sequence: Int
  /// Segments of one number share their time line, their coding and their format.
  public var discontinuity = 0
  /// What has to be read before it; empty for none. Segments with equal ones are one coded sound.
  public var initialisation: [UInt8] = []
  public var bytes: [UInt8]
  public var format: SegmentFormat

  /// Time of the first frame by an ID3 tag, s; nil where the container itself has the time.
  public var taggedTime: Double? {
    switch format {
    case .aac, .ac3, .mpegAudio: ID3Tag.timestamp(bytes).map { Double($0) / 90_000 }
    case .transportStream, .fragmentedMP4: nil
    }
  }

  /// Seconds after which times of this container begin again; nil where they do not.
  public var timeCycle: Double? {
    format == .fragmentedMP4 ? nil : Double(1 << 33) / 90_000
  }
}
