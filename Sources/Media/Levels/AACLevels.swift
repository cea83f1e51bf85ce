// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Finds the dynamic range control data in AAC access units (ISO/IEC 14496-3, 4.4.2.1).
///
/// Fill elements before the channels are parsed in sequence. Fill elements after the channels
/// follow entropy-coded spectra, so they are searched for backwards from the end mark. Other data
/// can match there by chance. A match after the channels is therefore accepted only if the previous
/// one had the same reference level and no unit without a match came between them.
struct AACLevels {
  /// The newest accepted data; nil until data has been accepted. Data that states no reference
  /// level keeps the previous level. The gain becomes nil after `longestAge` units without accepted
  /// data.
  private(set) var newest: AACDynamicRange?
  private var candidate: AACDynamicRange?
  /// The number of access units since `newest` was set.
  private var age = 0
  /// The number of access units without accepted data for which the newest gain still applies.
  private static let longestAge = 50

  /// Takes the next access unit, with or without an ADTS header.
  mutating func add(_ bytes: some Collection<UInt8>) {
    let unit = Self.withoutHeader(ArraySlice(Array(bytes)))
    age += 1
    if let found = Self.leading(unit) {
      set(found)
    } else if let found = Self.trailing(unit) {
      if candidate?.reference == found.reference { set(found) }
      candidate = found
    } else {
      candidate = nil
    }
    if age > Self.longestAge { newest?.gain = nil }
  }

  private mutating func set(_ found: AACDynamicRange) {
    let reference = found.reference ?? newest?.reference
    newest = found
    newest?.reference = reference
    age = 0
  }

  private static func withoutHeader(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bits = BitReader(bytes.prefix(7))
    guard bits.take(12) == 0xFFF else { return bytes }
    bits.skip(3)
    return bytes.dropFirst(bits.flag() ? 7 : 9)
  }

  private static let (dataElement, fillElement, endMark) = (4, 6, 7)
  private static let dynamicRange = 11

  private static func leading(_ bytes: ArraySlice<UInt8>) -> AACDynamicRange? {
    // The elements before the channels are assumed to fit in this many bytes.
    var bits = BitReader(bytes.prefix(1024))
    while !bits.isExhausted {
      switch bits.take(3) {
      case dataElement:
        bits.skip(4)
        let isAligned = bits.flag()
        var count = bits.take(8)
        if count == 255 { count += bits.take(8) }
        if isAligned { bits.skip((8 - bits.position % 8) % 8) }
        bits.skip(8 * count)
      case fillElement:
        var count = bits.take(4)
        if count == 15 { count += bits.take(8) - 1 }
        var content = bits
        bits.skip(8 * count)
        guard count > 0, content.take(4) == dynamicRange else { continue }
        let found = AACDynamicRange(&content)
        if !bits.isExhausted, found.byteCount <= count { return found }
      default: return nil
      }
    }
    return nil
  }

  /// Finds dynamic range data with a reference level in a fill element that ends at the end mark;
  /// nil if there is none. Only elements with 2 to 14 bytes of content are found.
  private static func trailing(_ bytes: ArraySlice<UInt8>) -> AACDynamicRange? {
    let tail = bytes.suffix(20)
    guard let last = tail.last, last != 0 || tail.count > 1 else { return nil }
    var end = tail.count * 8
    var bits = [Int](repeating: 0, count: end)
    var reader = BitReader(tail)
    for i in 0..<end { bits[i] = reader.take(1) }
    while end > 0, bits[end - 1] == 0 { end -= 1 }
    // After the end mark, at most seven zeros fill the last byte.
    guard end >= 3, tail.count * 8 - end < 8, bits[end - 3..<end] == [1, 1, 1] else { return nil }
    let mark = end - 3
    for count in 2...14 {
      let start = mark - 8 * count - 7
      guard start >= 0 else { return nil }
      var element = BitReader(tail)
      element.skip(start)
      guard element.take(3) == fillElement, element.take(4) == count,
        element.take(4) == dynamicRange
      else { continue }
      let found = AACDynamicRange(&element)
      if found.byteCount == count, found.reference != nil, element.position == mark {
        return found
      }
    }
    return nil
  }
}

/// The `dynamic_range_info` of MPEG-4 AAC (ISO/IEC 14496-3, 4.5.2.7) from a fill element.
struct AACDynamicRange: Equatable {
  /// The programme reference level in dB relative to full scale; nil if not transmitted.
  var reference: Double?
  /// The gain for all channels and frequencies, in dB; nil if there is no single gain.
  var gain: Double?
  /// The length in bytes, including the extension type.
  var byteCount = 1

  /// Parses a `dynamic_range_info`.
  ///
  /// - Parameter bits: a reader of the access unit, positioned after the extension type. On return,
  ///   the reader is positioned after the data.
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
