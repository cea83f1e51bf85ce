// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Which streams may change their channels half-way, by how they are made.
enum LayoutChanges {
  /// Every frame of these says how many channels it has.
  private static let selfDescribing: Set<String> = [
    "ac3", "eac3", "aac", "aac_latm", "dts", "truehd", "mlp", "mp1", "mp2", "mp3",
  ]
  /// A chained Ogg (RFC 3533, section 4) begins anew with other headers.
  private static let chained: Set<String> = ["opus", "vorbis", "flac"]
  /// Broadcasts, and what is cut out of them without a container.
  private static let broadcast: Set<String> = ["mpegts", "ac3", "eac3", "dts"]

  static func arePossible(codec: String, format: String) -> Bool {
    selfDescribing.contains(codec) || (format == "ogg" && chained.contains(codec))
  }

  /// What a listener will want to hear as it is, should it come.
  static func expected(codec: String, format: String, isMultichannel: Bool) -> [ChannelLayout] {
    guard arePossible(codec: codec, format: format), !["mp1", "mp2", "mp3"].contains(codec),
      isMultichannel || broadcast.contains(format)
    else { return [] }
    return [.speakers([.frontLeft, .frontRight, .frontCenter, .lowFrequency] + surrounds(codec))]
  }

  /// As the decoder of a codec names the pair of 5.1.
  private static func surrounds(_ codec: String) -> [Speaker] {
    ["ac3", "eac3", "dts", "truehd", "mlp"].contains(codec)
      ? [.sideLeft, .sideRight] : [.backLeft, .backRight]
  }
}
