// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// A 32-bit float WAV: channels x frames.
struct FloatWAV {
  var rate = 48000
  var channels: [[Float]]

  /// The bytes of the file; the header may state another number of channels.
  func bytes(statingChannels stated: Int? = nil) -> [UInt8] {
    let count = stated ?? channels.count
    let frames = channels.first?.count ?? 0
    var data: [UInt8] = []
    data.reserveCapacity(frames * channels.count * 4)
    for frame in 0..<frames {
      for channel in channels { data += little(channel[frame].bitPattern) }
    }
    let format =
      little(UInt16(3)) + little(UInt16(count)) + little(UInt32(rate))
      + little(UInt32(rate * count * 4)) + little(UInt16(count * 4)) + little(UInt16(32))
    let body =
      Array("WAVEfmt ".utf8) + little(UInt32(16)) + format + Array("data".utf8)
      + little(UInt32(data.count)) + data
    return Array("RIFF".utf8) + little(UInt32(body.count)) + body
  }

  struct NotFloatWAV: Error {}

  init(rate: Int = 48000, channels: [[Float]]) {
    self.rate = rate
    self.channels = channels
  }

  /// Reads a file that `stillstage` has written.
  init(reading path: String) throws {
    let bytes = try readFile(path)
    var at = 12
    var (count, rate, isFloat) = (0, 0, false)
    while at + 8 <= bytes.count {
      let size = Int(number(bytes, at + 4, UInt32.self))
      let name = String(decoding: bytes[at..<at + 4], as: UTF8.self)
      if name == "fmt " {
        count = Int(number(bytes, at + 10, UInt16.self))
        rate = Int(number(bytes, at + 12, UInt32.self))
        isFloat = number(bytes, at + 22, UInt16.self) == 32
      } else if name == "data" {
        guard isFloat, count > 0, at + 8 + size <= bytes.count else { throw NotFloatWAV() }
        let start = at + 8
        let frames = size / 4 / count
        self.rate = rate
        channels = (0..<count).map { channel in
          (0..<frames).map { frame in
            Float(bitPattern: number(bytes, start + 4 * (frame * count + channel), UInt32.self))
          }
        }
        return
      }
      at += 8 + size + size % 2
    }
    throw NotFloatWAV()
  }
}

func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  (0..<MemoryLayout<T>.size).map { UInt8(truncatingIfNeeded: value >> T(8 * $0)) }
}

private func number<T: FixedWidthInteger>(_ bytes: [UInt8], _ at: Int, _ type: T.Type) -> T {
  (0..<MemoryLayout<T>.size).reduce(0) { $0 | T(bytes[at + $1]) << T(8 * $1) }
}

struct FileFailure: Error {
  let path: String
  let errno: Int32
}

func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY)
  guard descriptor >= 0 else { throw FileFailure(path: path, errno: errno) }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
  guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
    throw FileFailure(path: path, errno: errno)
  }
  return bytes
}

extension TemporaryFolder {
  /// Writes bytes and gives the path.
  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(descriptor) }
    guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw FileFailure(path: file(name), errno: errno)
    }
    return file(name)
  }

  /// The names of what is in the folder, hidden files too.
  var names: Set<String> {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: Set<String> = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.insert(name) }
    }
    return names
  }
}
