// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Ambisonic labels of chunk files that libavformat does not report.
struct ChunkLayouts {
  private static let maximumChunks = 1024
  private let source: any ByteSource
  private let size: Int64

  init(_ source: any ByteSource) {
    self.source = source
    size = source.byteCount ?? 0
  }

  /// The `chan` chunk of a Core Audio file (Apple Core Audio Format Specification 1.0).
  func coreAudio(channels: Int) -> ChannelLayout? {
    var offset: Int64 = 8
    for _ in 0..<Self.maximumChunks {
      guard let header = source.bytes(at: offset, count: 12).map({ HeaderBytes($0) }),
        let length = header.big(4, bytes: 8), length <= UInt64(size)
      else { return nil }
      if header.code(0) == "chan" {
        let wanted = min(Int(length), 12 + 20 * AudioTrack.maximumChannels)
        return source.bytes(at: offset + 12, count: wanted).flatMap {
          CoreAudioLayout.ambisonic(HeaderBytes($0), channels: channels)
        }
      }
      offset += 12 + Int64(length)
    }
    return nil
  }

  /// The `fmt ` chunk of a WAV or `.amb` file: SUBTYPE_AMBISONIC_B_FORMAT_PCM and _IEEE_FLOAT
  /// (R. Dobson, "The AMB ambisonic file format") mean FuMa order and weights.
  func isBFormat() -> Bool {
    var offset: Int64 = 12
    for _ in 0..<Self.maximumChunks {
      guard let header = source.bytes(at: offset, count: 8).map({ HeaderBytes($0) }),
        let length = header.little32(4)
      else { return false }
      if header.code(0) == "fmt " {
        guard length >= 40, let format = source.bytes(at: offset + 8, count: 40) else {
          return false
        }
        return Self.isExtensible(format) && [1, 3].contains(format[24])
          && Array(format[25..<40]) == Self.bFormatTail
      }
      offset += 8 + Int64(length) + Int64(length & 1)
    }
    return false
  }

  private static func isExtensible(_ format: [UInt8]) -> Bool { format[0...1] == [0xFE, 0xFF] }

  /// 0000000?-0721-11D3-8644-C8C1CA000000 as it lies in the file, without its first byte.
  private static let bFormatTail: [UInt8] = [
    0, 0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0,
  ]
}
