// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The type of a movie box, and its position in an array of bytes.
struct MovieBox {
  let type: String
  /// The indices of the box's bytes, including its header.
  let range: Range<Int>
  /// The indices of the box's bytes after its header.
  let content: Range<Int>

  /// Returns the boxes in a range of the bytes, up to the first incomplete or malformed box.
  static func list(_ bytes: [UInt8], in range: Range<Int>) -> [MovieBox] {
    var boxes: [MovieBox] = []
    var at = range.lowerBound
    while at + 8 <= range.upperBound {
      let type = String(decoding: bytes[at + 4..<at + 8], as: UTF8.self)
      var (size, header) = (Int(bytes.number(at, 4)), 8)
      if size == 1, at + 16 <= range.upperBound {
        (size, header) = (Int(clamping: bytes.number(at + 8, 8)), 16)
      }
      if size == 0 { size = range.upperBound - at }
      guard size >= header, size <= range.upperBound - at else { break }
      boxes.append(MovieBox(type: type, range: at..<at + size, content: at + header..<at + size))
      at += size
    }
    return boxes
  }

  /// Finds a nested box. `path` lists the types from the outermost to the innermost box. At each
  /// level, only the first box of the type counts. Returns nil if the box is missing.
  static func find(_ path: [String], _ bytes: [UInt8], in range: Range<Int>) -> MovieBox? {
    guard let first = path.first,
      let box = list(bytes, in: range).first(where: { $0.type == first })
    else { return nil }
    return path.count == 1 ? box : find(Array(path.dropFirst()), bytes, in: box.content)
  }
}

extension [UInt8] {
  /// Returns the big-endian number of `size` bytes at an offset; 0 if it extends beyond the bytes.
  func number(_ at: Int, _ size: Int) -> UInt64 {
    guard at >= 0, at + size <= count else { return 0 }
    return self[at..<at + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Replaces the big-endian number of `size` bytes at an offset, unless it extends beyond the
  /// bytes.
  mutating func setNumber(_ value: UInt64, _ at: Int, _ size: Int) {
    guard at >= 0, at + size <= count else { return }
    for i in 0..<size { self[at + i] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - i))) }
  }
}

/// The `moov` box of a movie file.
struct MovieIndex {
  /// The bytes of the box, including its header.
  let bytes: [UInt8]
  /// The offset of the box in the file.
  let offset: Int64
  /// Whether the movie has fragments, whose samples the box does not list.
  let isFragmented: Bool

  private static let limit: Int64 = 1 << 30

  /// Reads the `moov` box of a file. Returns nil if the file is not a movie or cannot be read, or
  /// if the box is missing, incomplete or larger than 1 GiB.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    var (at, found): (Int64, (Int64, Int64)?) = (0, nil)
    var hasFragments = false
    var isFirst = true
    while at + 8 <= Int64(status.st_size) {
      guard let header = Self.read(descriptor, at, 16) ?? Self.read(descriptor, at, 8) else {
        return nil
      }
      let type = String(decoding: header[4..<8], as: UTF8.self)
      if isFirst, !["ftyp", "wide", "moov", "mdat", "free", "skip"].contains(type) { return nil }
      isFirst = false
      var size = Int64(header.number(0, 4))
      if size == 1 { size = Int64(clamping: header.number(8, 8)) }
      if size == 0 { size = Int64(status.st_size) - at }
      guard size >= 8, at <= Int64(status.st_size) - size else { break }
      if type == "moov" { found = (at, size) }
      if type == "moof" { hasFragments = true }
      at += size
    }
    guard let (offset, size) = found, size <= Self.limit,
      let bytes = Self.read(descriptor, offset, Int(size))
    else { return nil }
    (self.bytes, self.offset, isFragmented) = (bytes, offset, hasFragments)
  }

  /// Reads `count` bytes at an offset in a file. Returns nil if they extend beyond the end of the
  /// file or cannot be read.
  static func read(_ descriptor: Int32, _ offset: Int64, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset) + done)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return nil }
      done += got
    }
    return bytes
  }

  var content: Range<Int> { MovieBox.list(bytes, in: 0..<bytes.count).first?.content ?? 0..<0 }

  var tracks: [MovieBox] { MovieBox.list(bytes, in: content).filter { $0.type == "trak" } }

  /// The time scale of the movie, in ticks per second; 0 if it is missing.
  var timeScale: UInt64 {
    guard let header = MovieBox.find(["mvhd"], bytes, in: content) else { return 0 }
    return bytes.number(header.content.lowerBound + (isLong(header) ? 20 : 12), 4)
  }

  /// Whether the times in a box are 64-bit numbers. The box's content must begin with a version.
  func isLong(_ box: MovieBox) -> Bool { bytes.number(box.content.lowerBound, 1) == 1 }

  /// Returns the track number in a `trak` box; 0 if it is missing.
  func identifier(_ track: MovieBox) -> UInt32 {
    guard let header = MovieBox.find(["tkhd"], bytes, in: track.content) else { return 0 }
    return UInt32(bytes.number(header.content.lowerBound + (isLong(header) ? 20 : 12), 4))
  }
}
