// SPDX-License-Identifier: Apache-2.0

/// Properties of audio codecs by name (RFC 6381).
public enum AudioCodec {
  private static let families = [
    "mp4a", "mp3", "ac-3", "ec-3", "ec+3", "ac-4", "opus", "flac", "alac", "dts", "mha1", "mhm1",
    "apac",
  ]

  static func isAudio(_ codec: String) -> Bool {
    families.contains { codec.lowercased().hasPrefix($0) }
  }

  /// Returns false for codecs that Stillstage cannot decode: AC-4, MPEG-H 3D Audio (`mha1` and
  /// `mhm1`), DTS:X and APAC. Returns true for all other names, including unknown ones.
  public static func isDecodable(_ codec: String) -> Bool {
    !["ac-4", "mha1", "mhm1", "dtsx", "apac"].contains { codec.lowercased().hasPrefix($0) }
  }

  /// Returns the number of channels to assume if there is no CHANNELS attribute: 6 for AC-3 and
  /// E-AC-3, otherwise 2.
  static func usualChannels(_ codec: String?) -> Int {
    let isDolby = ["ac-3", "ec-3", "ec+3"].contains { codec?.lowercased().hasPrefix($0) ?? false }
    return isDolby ? 6 : 2
  }

  /// Returns a codec's typical bit rate, in bit/s, from Apple's HLS authoring specification and
  /// common practice.
  static func usualBitRate(_ codec: String?, channels: Int) -> Double {
    let name = codec?.lowercased() ?? ""
    if name.hasPrefix("ec") { return channels > 6 ? 448_000 : channels > 2 ? 192_000 : 128_000 }
    if name.hasPrefix("ac-3") { return channels > 2 ? 384_000 : 192_000 }
    if name.hasPrefix("flac") || name.hasPrefix("alac") { return 400_000 * Double(channels) }
    if name == "mp4a.40.5" || name == "mp4a.40.29" { return 32_000 * Double(channels) }
    return channels > 2 ? 53_000 * Double(channels) : 64_000 * Double(channels)
  }
}
