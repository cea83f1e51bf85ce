// SPDX-License-Identifier: Apache-2.0

/// Loudness and peak from the payload of a `tlou` box (ISO 14496-12, 12.2.7.2; coded as in
/// ISO 23003-4, 7.3).
///
/// Only the first entry for the unmodified sound (without downmix, compression or equalisation) is
/// used.
struct LoudnessBox {
  /// The programme loudness or, if that is missing, the anchor loudness, in LUFS; nil if neither is
  /// stated.
  let loudness: Double?
  /// The true peak in dBTP or, if that is missing, the sample peak in dBFS; nil if neither is
  /// stated.
  let peak: Double?

  private struct Entry {
    var isPlain = true
    var peak: Double?
    var programme: Double?
    var anchor: Double?
  }

  init(_ payload: [UInt8]) {
    var bits = BitReader(payload)
    let version = bits.take(8)
    bits.skip(24)
    var count = 1
    if version >= 1 {
      bits.skip(2)
      count = bits.take(6)
    }
    var entries: [Entry] = []
    while entries.count < count, !bits.isExhausted {
      let entry = Self.entry(&bits, version: version)
      if !bits.isExhausted { entries.append(entry) }
    }
    let plain = entries.first { $0.isPlain }
    loudness = plain?.programme ?? plain?.anchor
    peak = plain?.peak
  }

  private static func entry(_ bits: inout BitReader, version: Int) -> Entry {
    var entry = Entry()
    if version >= 1 {
      bits.skip(2)
      entry.isPlain = bits.take(6) == 0
    }
    bits.skip(3)
    let (downmix, compression) = (bits.take(7), bits.take(6))
    entry.isPlain = entry.isPlain && downmix == 0 && compression == 0
    let (samplePeak, truePeak) = (bits.take(12), bits.take(12))
    bits.skip(8)
    let coded = truePeak != 0 ? truePeak : samplePeak
    entry.peak = coded == 0 ? nil : 20 - Double(coded) / 32
    for _ in 0..<bits.take(8) where !bits.isExhausted {
      let (method, value) = (bits.take(8), bits.take(8))
      bits.skip(8)
      let loudness = -57.75 + Double(value) / 4
      if method == 1 { entry.programme = loudness }
      if method == 2 { entry.anchor = loudness }
    }
    return entry
  }
}
