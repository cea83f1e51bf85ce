// SPDX-License-Identifier: Apache-2.0

/// The boxes of a QuickTime movie, for tests.
struct MovieFile {
  struct Box {
    let type: String
    let start: Int
    let end: Int
  }

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var top: [Box] { boxes(from: 0, to: bytes.count) }

  func children(_ box: Box, from offset: Int = 0) -> [Box] {
    boxes(from: box.start + offset, to: box.end)
  }

  /// Follows a path of box types, taking the first of each type.
  func find(_ path: String, in box: Box? = nil) -> Box? {
    var boxes = box.map { children($0) } ?? top
    var found: Box?
    for type in path.split(separator: " ") {
      found = boxes.first { $0.type == type }
      guard let found else { return nil }
      boxes = children(found)
    }
    return found
  }

  /// The number of `count` bytes at `offset`, most significant byte first.
  func number(_ offset: Int, _ count: Int = 4) -> Int {
    bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }

  func text(_ offset: Int, _ count: Int = 4) -> String {
    String(decoding: bytes[offset..<offset + count], as: UTF8.self)
  }

  private func boxes(from start: Int, to end: Int) -> [Box] {
    var result: [Box] = []
    var offset = start
    while offset + 8 <= end {
      var (length, header) = (number(offset), 8)
      if length == 1 { (length, header) = (number(offset + 8, 8), 16) }
      guard length >= header, offset + length <= end else { break }
      result.append(
        Box(type: text(offset + 4), start: offset + header, end: offset + length))
      offset += length
    }
    return result
  }
}

/// What a movie says about one track.
struct MovieTrackFacts: Equatable {
  var identifier: Int
  var handler: String
  var codec: String
  var isEnabled: Bool
  var group: Int
  var reference: String?
  /// The tag of the channel layout.
  var layout: Int?
  /// Media time of the edit list.
  var delay: Int?
  var duration: Int
}

extension MovieFile {
  var tracks: [MovieTrackFacts] {
    guard let movie = top.last(where: { $0.type == "moov" }) else { return [] }
    return children(movie).filter { $0.type == "trak" }.map { track in
      let header = find("tkhd", in: track)!
      let entry = children(find("mdia minf stbl stsd", in: track)!, from: 8)[0]
      // The fixed part of a sound description has 64 bytes in version 2 and 44 in version 1.
      let layout = children(entry, from: number(entry.start + 8, 2) == 2 ? 64 : 44)
        .first { $0.type == "chan" }
      let reference = find("tref", in: track).map { children($0)[0] }
      return MovieTrackFacts(
        identifier: number(header.start + 12),
        handler: text(find("mdia hdlr", in: track)!.start + 8), codec: entry.type,
        isEnabled: number(header.start) & 1 == 1, group: number(header.start + 34, 2),
        reference: reference.map { "\($0.type) \(number($0.start))" },
        layout: layout.map { number($0.start + 4) },
        delay: find("edts elst", in: track).map { number($0.start + 12) },
        duration: number(find("mdia mdhd", in: track)!.start + 16))
    }
  }

  /// The JSON texts of the metadata track in a plain movie.
  var metadata: [String] {
    guard let movie = find("moov"),
      let track = children(movie).filter({ $0.type == "trak" }).last,
      let table = find("mdia minf stbl", in: track), let sizes = find("stsz", in: table),
      let offsets = find("co64", in: table), let chunks = find("stsc", in: table)
    else { return [] }
    // Each chunk has one sample.
    guard number(chunks.start + 4) <= 1 || number(chunks.start + 12) == 1 else { return [] }
    return (0..<number(offsets.start + 4)).map { index in
      let offset = number(offsets.start + 8 + 8 * index, 8)
      let size = number(sizes.start + 12 + 4 * index)
      return text(offset + 8, size - 8)
    }
  }
}
