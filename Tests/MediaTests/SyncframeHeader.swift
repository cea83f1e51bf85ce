// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import Media

/// The level metadata in the header of an AC-3 or E-AC-3 frame (ATSC A/52:2018, 5.3 and annex E
/// 2.3; ETSI TS 102 366).
struct SyncframeHeader: Sendable, Equatable {
  /// The levels of one programme; a dual mono frame contains two programmes.
  struct Levels: Sendable, Equatable {
    /// Loudness of the dialogue in the coded sound, -31 to -1 dB.
    var dialogue: Int
    /// Gain for heavy compression (`compr`), in dB; nil if there is none.
    var heavyCompression: Double?
    /// Gain for line mode (`dynrng`) of the first block of an AC-3 frame, in dB; nil if there is
    /// none. In E-AC-3, and in the other blocks, it follows entropy-coded data.
    var firstBlockGain: Double?
  }

  var isEnhanced: Bool
  /// Whether the frame only adds channels to the previous one.
  var isDependent: Bool
  /// Length of the frame in bytes.
  var byteCount: Int
  /// `acmod`, 0 to 7; 0 is dual mono.
  var channelMode: Int
  var hasLowFrequency: Bool
  /// One entry; two for dual mono.
  var levels: [Levels]

  /// - Parameter bytes: of a frame, starting at its sync word; bytes after the header are not read.
  /// - Returns: nil if the bytes are not a frame or are cut short.
  init?(_ bytes: some Collection<UInt8>) {
    var bits = BitReader(bytes.prefix(128))
    guard bits.take(16) == 0x0B77 else { return nil }
    // Both formats have their version at the same position.
    var ahead = bits
    ahead.skip(24)
    let version = ahead.take(5)
    guard !ahead.isExhausted else { return nil }
    switch version {
    case 0...10: self.init(basic: &bits)
    case 11...16: self.init(enhanced: &bits)
    default: return nil
    }
    guard !bits.isExhausted else { return nil }
  }

  private init?(basic bits: inout BitReader) {
    bits.skip(16)
    let (rate, size) = (bits.take(2), bits.take(6))
    guard rate < 3, size < 38 else { return nil }
    bits.skip(5 + 3)
    let mode = bits.take(3)
    if mode & 1 != 0, mode != 1 { bits.skip(2) }
    if mode & 4 != 0 { bits.skip(2) }
    if mode == 2 { bits.skip(2) }
    isEnhanced = false
    isDependent = false
    byteCount = Self.bytes(rate: rate, size: size)
    channelMode = mode
    hasLowFrequency = bits.flag()
    levels = []
    for _ in 0..<(mode == 0 ? 2 : 1) {
      levels.append(Self.levels(&bits))
      _ = bits.optional(8)
      _ = bits.optional(7)
    }
    bits.skip(2)
    // These are time codes or, in version 6, mixing metadata of the same length.
    for _ in 0..<2 { _ = bits.optional(14) }
    if let count = bits.optional(6) { bits.skip(8 * (count + 1)) }
    bits.skip(2 * Self.fullChannels[mode])
    for index in levels.indices {
      levels[index].firstBlockGain = bits.optional(8).map(Self.lineGain)
    }
  }

  private init?(enhanced bits: inout BitReader) {
    let type = bits.take(2)
    guard type < 3 else { return nil }
    bits.skip(3)
    byteCount = 2 * (bits.take(11) + 1)
    bits.skip(4)
    channelMode = bits.take(3)
    hasLowFrequency = bits.flag()
    bits.skip(5)
    isEnhanced = true
    isDependent = type == 1
    levels = []
    for _ in 0..<(channelMode == 0 ? 2 : 1) { levels.append(Self.levels(&bits)) }
  }

  /// Reads the levels of one programme. Zero is reserved, and decoders interpret it as -31.
  private static func levels(_ bits: inout BitReader) -> Levels {
    let dialogue = bits.take(5)
    return Levels(
      dialogue: dialogue == 0 ? -31 : -dialogue, heavyCompression: bits.optional(8).map(heavyGain))
  }

  private static let fullChannels = [2, 1, 2, 3, 3, 4, 4, 5]

  /// Bit rates in kbit/s by `frmsizecod` / 2 (table 5.18).
  private static let bitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]

  private static func bytes(rate: Int, size: Int) -> Int {
    let hertz = [48000, 44100, 32000][rate]
    let words = bitRates[size / 2] * 1000 * 96 / hertz
    return 2 * (rate == 1 ? words + size % 2 : words)
  }

  /// Returns the gain of a `compr` word in dB: a signed exponent of 4 bits, a mantissa of 4 (A/52,
  /// 7.7.2.2).
  static func heavyGain(_ word: Int) -> Double {
    let exponent = word >> 4 - (word & 0x80 != 0 ? 16 : 0)
    return 20 * log10(Double(16 + word & 15) / 32) + 20 * log10(2) * Double(exponent + 1)
  }

  /// Returns the gain of a `dynrng` word in dB: a signed exponent of 3 bits, a mantissa of 5 (A/52,
  /// 7.7.1.2).
  static func lineGain(_ word: Int) -> Double {
    let exponent = word >> 5 - (word & 0x80 != 0 ? 8 : 0)
    return 20 * log10(Double(32 + word & 31) / 64) + 20 * log10(2) * Double(exponent + 1)
  }
}
