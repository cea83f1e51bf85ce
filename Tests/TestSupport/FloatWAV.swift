// SPDX-License-Identifier: Apache-2.0

import Glibc

/// WAV files of 32-bit float samples, written and read without the code under test.
public enum FloatWAV {
  public struct Unusable: Error {
    let path: String
    let reason: String
  }

  /// Writes channels x frames.
  public static func write(_ channels: [[Float]], sampleRate: Int, to path: String) throws {
    let count = channels.count
    let frames = channels[0].count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + 4 * count * frames)
    func put<T: FixedWidthInteger>(_ value: T) {
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
    bytes += Array("RIFF".utf8)
    put(UInt32(36 + 4 * count * frames))
    bytes += Array("WAVEfmt ".utf8)
    put(UInt32(16))
    put(UInt16(3))
    put(UInt16(count))
    put(UInt32(sampleRate))
    put(UInt32(4 * count * sampleRate))
    put(UInt16(4 * count))
    put(UInt16(32))
    bytes += Array("data".utf8)
    put(UInt32(4 * count * frames))
    for i in 0..<frames { for channel in channels { put(channel[i].bitPattern) } }
    guard let file = fopen(path, "wb") else { throw Unusable(path: path, reason: "fopen") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw Unusable(path: path, reason: "fwrite")
    }
  }

  /// Reads channels x frames.
  public static func read(_ path: String) throws -> [[Float]] {
    let bytes = try contents(path)
    func number(at offset: Int, _ size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    var (at, count) = (12, 0)
    while at + 8 <= bytes.count {
      let name = String(decoding: bytes[at..<at + 4], as: UTF8.self)
      let size = number(at: at + 4, 4)
      if name == "fmt " {
        count = number(at: at + 10, 2)
        guard number(at: at + 22, 2) == 32 else { throw Unusable(path: path, reason: "bits") }
      }
      if name == "data", count > 0 {
        let start = at + 8
        let frames = min(size, bytes.count - start) / (4 * count)
        return bytes.withUnsafeBytes { raw in
          (0..<count).map { c in
            (0..<frames).map { i in
              let word = raw.loadUnaligned(
                fromByteOffset: start + 4 * (count * i + c), as: UInt32.self)
              return Float(bitPattern: UInt32(littleEndian: word))
            }
          }
        }
      }
      at += 8 + size + size % 2
    }
    throw Unusable(path: path, reason: "no samples")
  }

  private static func contents(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw Unusable(path: path, reason: "fopen") }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let size = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = fread(buffer.baseAddress, 1, size, file)
    }
  }
}
