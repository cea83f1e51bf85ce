// SPDX-License-Identifier: Apache-2.0

/// Finds the next page after damage in an Ogg file (RFC 3533, section 6).
struct OggPages {
  private static let headerLength: Int64 = 27
  private static let searchStep: Int64 = 65536
  private static let pattern = Array("OggS".utf8)
  private let source: any ByteSource
  private let size: Int64

  init(_ source: any ByteSource) {
    self.source = source
    size = source.byteCount ?? 0
  }

  /// Returns the byte offset of the next page after the first damaged page. A damaged page has an
  /// invalid header or extends past the end of the file. Returns nil if no page is damaged, if no
  /// page follows the damaged page, or if `start` is negative.
  ///
  /// - Parameter start: the byte offset of the page at which to begin.
  func damaged(after start: Int64) -> Int64? {
    guard start >= 0 else { return nil }
    var page = start
    while let end = end(ofPage: page), end <= size {
      if end == size { return nil }
      page = end
    }
    return search(from: page + 1)
  }

  private func end(ofPage page: Int64) -> Int64? {
    guard let header = source.bytes(at: page, count: Int(Self.headerLength)),
      header.starts(with: Self.pattern),
      let lengths = source.bytes(at: page + Self.headerLength, count: Int(header[26]))
    else { return nil }
    let body = lengths.reduce(Int64(0)) { $0 + Int64($1) }
    return page + Self.headerLength + Int64(lengths.count) + body
  }

  private func search(from start: Int64) -> Int64? {
    var place = start
    while place <= size - Self.headerLength,
      let bytes = source.bytes(at: place, count: Int(min(Self.searchStep, size - place)))
    {
      for index in 0...(bytes.count - 4) where bytes[index] == Self.pattern[0] {
        if bytes[index..<(index + 4)].elementsEqual(Self.pattern) { return place + Int64(index) }
      }
      place += Int64(bytes.count - 3)
    }
    return nil
  }
}
