// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A `dynamic_range_info` of MPEG-4 AAC (ISO/IEC 14496-3, 4.5.2.7), as a fill element carries it.
struct AACDynamicRange: Equatable {
  /// Loudness of the programme in the coded sound, dB; nil where it is not sent.
  var reference: Double?
  /// Gain for all channels and frequencies, dB; nil where it differs between them.
  var gain: Double?
  /// Bytes of it, with the type of the extension in front of it.
  var byteCount = 1

  /// - Parameter bits: behind the type of the extension.
  init(_ bits: inout BitReader) {
    var hasExclusions = false
    if bits.flag() {
      bits.skip(8)
      byteCount += 1
    }
    if bits.flag() {
      hasExclusions = true
      repeat {
        bits.skip(7)
        byteCount += 1
      } while bits.flag() && !bits.isExhausted
    }
    var bands = 1
    if bits.flag() {
      bands += bits.take(4)
      bits.skip(4 + 8 * bands)
      byteCount += 1 + bands
    }
    if bits.flag() {
      reference = -0.25 * Double(bits.take(7))
      bits.skip(1)
      byteCount += 1
    }
    for band in 0..<bands {
      let sign = bits.flag() ? -1.0 : 1
      let value = sign * Double(bits.take(7)) * 20 * log10(2) / 24
      gain = bands == 1 && band == 0 && !hasExclusions ? value : nil
      byteCount += 1
    }
  }
}
