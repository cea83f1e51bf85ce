// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A WAV file of 32-bit float samples, channels x frames; independent of the code under test.
public struct FloatWAV {
  public var rate = 48_000
  public var channels: [[Float]]

  public struct Unusable: Error {
    let path: String
    let reason: String
  }

  public init(rate: Int = 48_000, channels: [[Float]]) {
    self.rate = rate
    self.channels = channels
  }

  /// Returns the bytes of the file; the header may state a different number of channels.
  public func bytes(statingChannels stated: Int? = nil) -> [UInt8] {
    let count = stated ?? channels.count
    let frames = channels.first?.count ?? 0
    let size = 4 * channels.count * frames
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + size)
    func put<T: FixedWidthInteger>(_ value: T) {
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
    bytes += Array("RIFF".utf8)
    put(UInt32(36 + size))
    bytes += Array("WAVEfmt ".utf8)
    put(UInt32(16))
    put(UInt16(3))
    put(UInt16(count))
    put(UInt32(rate))
    put(UInt32(4 * count * rate))
    put(UInt16(4 * count))
    put(UInt16(32))
    bytes += Array("data".utf8)
    put(UInt32(size))
    for i in 0..<frames { for channel in channels { put(channel[i].bitPattern) } }
    return bytes
  }

  public func write(to path: String) throws { try writeFile(bytes(), to: path) }

  public init(reading path: String) throws {
    let bytes = try readFile(path)
    func number(at offset: Int, _ size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    var (at, count) = (12, 0)
    while at + 8 <= bytes.count {
      let name = String(decoding: bytes[at..<at + 4], as: UTF8.self)
      let size = number(at: at + 4, 4)
      if name == "fmt " {
        count = number(at: at + 10, 2)
        rate = number(at: at + 12, 4)
        guard number(at: at + 22, 2) == 32 else { throw Unusable(path: path, reason: "bits") }
      }
      if name == "data", count > 0 {
        let start = at + 8
        guard start + size <= bytes.count else { throw Unusable(path: path, reason: "cut short") }
        let frames = size / (4 * count)
        channels = bytes.withUnsafeBytes { raw in
          (0..<count).map { c in
            (0..<frames).map { i in
              Float(
                bitPattern: raw.loadUnaligned(
                  fromByteOffset: start + 4 * (i * count + c), as: UInt32.self))
            }
          }
        }
        return
      }
      at += 8 + size + size % 2
    }
    throw Unusable(path: path, reason: "no samples")
  }
}

public struct FileFailure: Error {
  let path: String
  let errno: Int32
}

/// Returns all bytes of a file.
public func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY)
  guard descriptor >= 0 else { throw FileFailure(path: path, errno: errno) }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
  guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
    throw FileFailure(path: path, errno: errno)
  }
  return bytes
}

/// Writes a file with the given bytes.
public func writeFile(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
  defer { close(descriptor) }
  guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
    throw FileFailure(path: path, errno: errno)
  }
}
