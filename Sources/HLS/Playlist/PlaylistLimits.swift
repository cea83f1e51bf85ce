// SPDX-License-Identifier: Apache-2.0

/// How large a playlist may be; one that is larger is refused, since it is hostile or broken.
public enum PlaylistLimits {
  /// Bytes of a playlist.
  public static let bytes = 8 << 20
  /// Variants of a presentation.
  public static let variants = 64
  /// Renditions of a presentation, of all groups.
  public static let renditions = 256
  /// Segments of a media playlist: 55 hours of 2 s.
  public static let segments = 100_000
  /// Characters of a line.
  static let lineCharacters = 16_384
  /// Variables that a playlist may define.
  static let variables = 256
  /// Seconds of a segment, and of a target duration.
  static let seconds = 86_400.0
}
