// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Reads ambisonic labels and audio lengths from WAV and Core Audio files.
struct ChunkLayouts {
  private static let maximumChunks = 1024
  private let source: any ByteSource
  private let size: Int64

  init(_ source: any ByteSource) {
    self.source = source
    size = source.byteCount ?? 0
  }

  /// Reads the `chan` chunk of a Core Audio file (Apple Core Audio Format Specification 1.0).
  /// Returns nil if the chunk is missing or cannot be read, or if it states no ambisonic layout
  /// with `channels` channels.
  func coreAudio(channels: Int) -> ChannelLayout? {
    guard let chunk = chunk("chan", .coreAudio), chunk.length <= UInt64(size) else { return nil }
    let wanted = min(Int(chunk.length), 12 + 20 * AudioTrack.maximumChannels)
    return source.bytes(at: chunk.start, count: wanted).flatMap {
      CoreAudioLayout.ambisonic(HeaderBytes($0), channels: channels)
    }
  }

  /// Returns the audio length that a Core Audio file states, in bytes, without the 4 bytes of the
  /// edit count; nil if the file states no length above 0.
  func coreAudioDataLength() -> Int64? {
    guard let chunk = chunk("data", .coreAudio), chunk.length != .max else { return nil }
    return Int64(exactly: chunk.length).flatMap { $0 > 4 ? $0 - 4 : nil }
  }

  /// Whether the `fmt ` chunk of a WAV or `.amb` file has the B-format subtype. At any ambisonic
  /// order, this subtype means FuMa channel order and weights (R. Dobson, "The AMB ambisonic file
  /// format").
  func isBFormat() -> Bool {
    guard let chunk = chunk("fmt ", .wave), chunk.length >= 40,
      let format = source.bytes(at: chunk.start, count: 40)
    else { return false }
    return Self.isExtensible(format) && [1, 3].contains(format[24])
      && Array(format[25..<40]) == Self.bFormatTail
  }

  /// Returns the audio length that a RIFF file states, in bytes. Returns nil for RF64, if there is
  /// no `data` chunk, or if the length is 0 or at least 0xFFFF_0000.
  func waveDataLength() -> Int64? {
    guard let riff = source.bytes(at: 0, count: 4), riff == Array("RIFF".utf8),
      let chunk = chunk("data", .wave), chunk.length > 0, chunk.length < 0xFFFF_0000
    else { return nil }
    return Int64(chunk.length)
  }

  private enum Family {
    /// The first chunk starts at byte 8. Lengths are 8 bytes long, most significant byte first.
    case coreAudio
    /// The first chunk starts at byte 12; chunks are 2-byte aligned. Lengths are 4 bytes long,
    /// least significant byte first.
    case wave

    var start: Int64 { self == .wave ? 12 : 8 }
    var headerLength: Int64 { self == .wave ? 8 : 12 }

    func length(_ header: HeaderBytes) -> UInt64? {
      self == .wave ? header.little32(4).map { UInt64($0) } : header.big(4, bytes: 8)
    }
  }

  private func chunk(_ type: String, _ family: Family) -> (start: Int64, length: UInt64)? {
    var offset = family.start
    for _ in 0..<Self.maximumChunks {
      guard let bytes = source.bytes(at: offset, count: Int(family.headerLength)),
        let length = family.length(HeaderBytes(bytes))
      else { return nil }
      offset += family.headerLength
      if HeaderBytes(bytes).code(0) == type { return (offset, length) }
      guard length <= UInt64(size) else { return nil }
      offset += Int64(length) + (family == .wave ? Int64(length & 1) : 0)
    }
    return nil
  }

  private static func isExtensible(_ format: [UInt8]) -> Bool { format[0...1] == [0xFE, 0xFF] }

  /// The bytes of the GUID 0000000?-0721-11D3-8644-C8C1CA000000 in file order, except the first.
  private static let bFormatTail: [UInt8] = [
    0, 0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0,
  ]
}
