// SPDX-License-Identifier: Apache-2.0

@testable import Media

/// Inserts level metadata into streams of FFmpeg's encoders, which only write dialnorm.
///
/// An AC-3 stream of 384 kbit/s becomes one of 448 kbit/s, and an E-AC-3 frame becomes four bytes
/// longer. This makes space for the metadata, and the coded sound is unchanged.
struct BroadcastFrames {
  /// `dialnorm`, 1 to 31.
  var dialogue: Int
  /// `compr` of each frame, used in rotation.
  var heavy: [Int?] = [nil]
  /// `dynrng` of the first block of each frame, which also applies to the other blocks; used in
  /// rotation.
  var line: [Int?] = [nil]

  enum Unexpected: Error { case header }

  // MARK: AC-3

  func basic(_ stream: [UInt8]) throws -> [UInt8] {
    try eachFrame(stream, length: { SyncframeHeader($0)?.byteCount }, basicFrame)
  }

  private func basicFrame(_ frame: ArraySlice<UInt8>, _ index: Int) throws -> [UInt8] {
    let bits = bits(of: frame)
    var reader = BitReader(frame)
    reader.skip(32)
    guard reader.take(8) == 28 else { throw Unexpected.header }
    reader.skip(8)
    let mode = reader.take(3)
    if mode & 1 != 0, mode != 1 { reader.skip(2) }
    if mode & 4 != 0 { reader.skip(2) }
    if mode == 2 { reader.skip(2) }
    reader.skip(1)
    var written = Array(bits[..<32]) + field(30, 8) + Array(bits[40..<reader.position])
    reader.skip(5)
    written += field(dialogue, 5) + word(heavy[index % heavy.count])
    // FFmpeg writes none of compre, langcode and audprodie.
    guard reader.take(3) == 0 else { throw Unexpected.header }
    let start = reader.position - 2
    reader.skip(2)
    // These are time codes or, in version 6, mixing metadata.
    for _ in 0..<2 { _ = reader.optional(14) }
    guard reader.take(1) == 0 else { throw Unexpected.header }
    reader.skip(2 * [2, 1, 2, 3, 3, 4, 4, 5][mode])
    written += bits[start..<reader.position] + word(line[index % line.count])
    guard reader.take(1) == 0 else { throw Unexpected.header }
    // The auxiliary data flag, a reserved bit and the checksum end the frame.
    let body = bits[reader.position..<(bits.count - 18)]
    let length = 1792 * 8
    written += body + [UInt8](repeating: 0, count: length - 18 - written.count - body.count)
    written += Array(repeating: 0, count: 18)
    return checked(bytes(of: written))
  }

  /// Sets both checksums of an AC-3 frame: over its first 5/8, and over the rest. The first
  /// checksum precedes its data. It is the value for which the remainder is zero, found by stepping
  /// the register back over the bits that follow.
  private func checked(_ frame: [UInt8]) -> [UInt8] {
    var frame = frame
    let words = frame.count / 2
    let border = 2 * (words >> 1 + words >> 3)
    let remainder = Self.remainder(frame[4..<border])
    var first = remainder
    for _ in 0..<(8 * border - 16) { first = Self.stepBack(first) }
    (frame[2], frame[3]) = (UInt8(first >> 8), UInt8(first & 255))
    let last = Self.remainder(frame[2..<(frame.count - 2)])
    frame[frame.count - 2] = UInt8(last >> 8)
    frame[frame.count - 1] = UInt8(last & 255)
    return frame
  }

  // MARK: E-AC-3

  func enhanced(_ stream: [UInt8]) throws -> [UInt8] {
    try eachFrame(stream, length: { SyncframeHeader($0)?.byteCount }, enhancedFrame)
  }

  private func enhancedFrame(_ frame: ArraySlice<UInt8>, _ index: Int) throws -> [UInt8] {
    let bits = bits(of: frame)
    var reader = BitReader(frame)
    reader.skip(16 + 2 + 3 + 11 + 2 + 2)
    let mode = reader.take(3)
    let hasLow = reader.take(1)
    reader.skip(5)
    let size = frame.count + 4
    var written = Array(bits[..<21]) + field(size / 2 - 1, 11) + bits[32..<reader.position]
    reader.skip(5)
    written += field(dialogue, 5) + word(heavy[index % heavy.count])
    // FFmpeg writes none of compre, mixmdate, infomdate and addbsie.
    guard reader.take(1) == 0 else { throw Unexpected.header }
    let start = reader.position
    guard reader.take(3) == 0 else { throw Unexpected.header }
    try skipFrameInformation(&reader, channels: [2, 1, 2, 3, 3, 4, 4, 5][mode], low: hasLow)
    written += bits[start..<reader.position] + word(line[index % line.count])
    guard reader.take(1) == 0 else { throw Unexpected.header }
    let body = bits[reader.position..<(bits.count - 18)]
    written += body + [UInt8](repeating: 0, count: size * 8 - 18 - written.count - body.count)
    written += Array(repeating: 0, count: 18)
    var result = bytes(of: written)
    let sum = Self.remainder(result[2..<(size - 2)])
    result[size - 2] = UInt8(sum >> 8)
    result[size - 1] = UInt8(sum & 255)
    return result
  }

  /// Skips `audfrm` (annex E, 2.2.3) as FFmpeg's encoder writes it: six blocks, no optional tools.
  private func skipFrameInformation(
    _ reader: inout BitReader, channels: Int, low: Int
  ) throws {
    let hasStrategies = reader.flag()
    guard reader.take(11) == 0 else { throw Unexpected.header }
    var coupled = [Bool](repeating: false, count: 6)
    if channels > 1 {
      coupled[0] = reader.flag()
      for block in 1..<6 { coupled[block] = reader.flag() ? reader.flag() : coupled[block - 1] }
    }
    if hasStrategies {
      for block in 0..<6 { reader.skip(2 * (channels + (coupled[block] ? 1 : 0))) }
    } else {
      reader.skip(5 * (channels + (coupled.contains(true) ? 1 : 0)))
    }
    reader.skip(6 * low + 5 * channels + 10)
    guard reader.take(1) == 0 else { throw Unexpected.header }
  }

  // MARK: Bits

  private func eachFrame(
    _ stream: [UInt8], length: (ArraySlice<UInt8>) -> Int?,
    _ change: (ArraySlice<UInt8>, Int) throws -> [UInt8]
  ) throws -> [UInt8] {
    var (result, at, index): ([UInt8], Int, Int) = ([], 0, 0)
    while at < stream.count {
      guard let count = length(stream[at...]), at + count <= stream.count else {
        throw Unexpected.header
      }
      result += try change(stream[at..<(at + count)], index)
      at += count
      index += 1
    }
    return result
  }

  private func field(_ value: Int, _ count: Int) -> [UInt8] {
    var writer = BitWriter()
    writer.put(value, count)
    return writer.bits
  }

  private func word(_ value: Int?) -> [UInt8] {
    var writer = BitWriter()
    writer.put(optional: value, 8)
    return writer.bits
  }

  /// Returns the remainder of the division by x^16 + x^15 + x^2 + 1 (A/52, 6.1.7).
  private static func remainder(_ bytes: some Sequence<UInt8>) -> Int {
    var register = 0
    for byte in bytes {
      register ^= Int(byte) << 8
      for _ in 0..<8 {
        register = register & 0x8000 != 0 ? (register << 1 ^ 0x8005) & 0xFFFF : register << 1
      }
    }
    return register
  }

  /// Reverses one step of the register.
  private static func stepBack(_ register: Int) -> Int {
    register & 1 != 0 ? (register ^ 0x8005) >> 1 | 0x8000 : register >> 1
  }
}
