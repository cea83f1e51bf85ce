// SPDX-License-Identifier: Apache-2.0

/// A box of an MP4 or QuickTime file (ISO 14496-12, 4.2).
struct Box {
  let type: String
  /// The byte range of the payload in the file: `start..<end`.
  let start: Int64
  let end: Int64
}

/// Reads the boxes of a file. The number of boxes and the size of a payload are limited.
struct BoxReader {
  private static let maximumBoxes = 4096
  private static let maximumFragments = 1 << 18
  private static let maximumPayload: Int64 = 65536
  private let source: any ByteSource

  init(_ source: any ByteSource) { self.source = source }

  var top: [Box] { boxes(from: 0, to: source.byteCount ?? 0) }

  /// Returns the boxes in the payload of `box`, from byte `offset` of the payload.
  func children(_ box: Box, from offset: Int64 = 0) -> [Box] {
    boxes(from: box.start + offset, to: box.end)
  }

  /// Follows a path of box types from `box`, through the first child of each type. Returns nil if a
  /// child is missing.
  func descend(_ box: Box, _ path: [String]) -> Box? {
    path.reduce(box) { parent, type in
      parent.flatMap { children($0).first { $0.type == type } }
    }
  }

  /// Returns the first `limit` bytes of the payload, or all of a shorter payload. Returns nil if
  /// more than 65536 bytes would be returned, or if reading fails.
  func payload(_ box: Box, limit: Int64 = .max) -> [UInt8]? {
    let count = min(limit, box.end - box.start)
    guard count <= Self.maximumPayload else { return nil }
    return source.bytes(at: box.start, count: Int(count))
  }

  /// The byte offset at which the complete top-level boxes at the start of the file end; 0 if
  /// there are none. The limit on the number of boxes is higher than for `top`, because a
  /// fragmented movie has two top-level boxes for each fragment.
  var topEnd: Int64 {
    boxes(from: 0, to: source.byteCount ?? 0, limit: Self.maximumFragments).last?.end ?? 0
  }

  private func boxes(
    from start: Int64, to end: Int64, limit: Int = maximumBoxes
  ) -> [Box] {
    var found: [Box] = []
    var offset = start
    while offset <= end - 8, found.count < limit,
      let bytes = source.bytes(at: offset, count: Int(min(16, end - offset)))
    {
      let header = HeaderBytes(bytes)
      guard let type = header.code(4), let short = header.big32(0) else { break }
      var length = Int64(short)
      var payload = offset + 8
      if short == 1 {
        guard let long = header.big(8, bytes: 8), long <= UInt64(Int64.max) else { break }
        length = Int64(long)
        payload += 8
      } else if short == 0 {
        length = end - offset
      }
      guard length >= payload - offset, length <= end - offset else { break }
      found.append(Box(type: type, start: payload, end: offset + length))
      offset += length
    }
    return found
  }
}
