// SPDX-License-Identifier: Apache-2.0

/// The container format of a segment, detected from its first bytes.
public enum SegmentFormat: String, Sendable, CaseIterable {
  case transportStream = "MPEG-TS"
  case fragmentedMP4 = "fragmented MP4"
  /// ADTS frames.
  case aac = "AAC"
  case ac3 = "AC-3"
  case mpegAudio = "MPEG audio"

  /// Detects the format of a segment; nil if it is not recognised. Skips ID3 tags at the start,
  /// except that MPEG-TS and MP4 are recognised only without such tags.
  public init?(_ bytes: [UInt8]) {
    let start = ID3Tag.length(bytes)
    let body = bytes[start...]
    if start == 0, Self.isTransportStream(body) {
      self = .transportStream
    } else if start == 0, Self.isMP4(body) {
      self = .fragmentedMP4
    } else if body.starts(with: [0x0B, 0x77]) {
      self = .ac3
    } else if body.count > 1, body[start] == 0xFF, body[start + 1] & 0xF6 == 0xF0 {
      self = .aac
    } else if body.count > 1, body[start] == 0xFF, body[start + 1] & 0xE0 == 0xE0,
      body[start + 1] & 0x06 != 0
    {
      self = .mpegAudio
    } else {
      return nil
    }
  }

  static let packetBytes = 188

  private static func isTransportStream(_ bytes: ArraySlice<UInt8>) -> Bool {
    let marks = stride(from: 0, to: min(bytes.count, 3 * packetBytes), by: packetBytes)
    return bytes.count >= packetBytes && marks.allSatisfy { bytes[bytes.startIndex + $0] == 0x47 }
  }

  private static func isMP4(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count >= 8 else { return false }
    let known = ["styp", "ftyp", "moof", "sidx", "emsg", "prft", "moov", "free", "skip", "uuid"]
    return known.contains(String(decoding: bytes.dropFirst(4).prefix(4), as: UTF8.self))
  }
}

extension SegmentFormat {
  /// Returns a description of what is wrong with a segment; nil if nothing wrong was found.
  ///
  /// Checks the structure of MPEG-TS and MP4 segments, because a truncated body can look complete
  /// to the network layer. Does not check other formats.
  public func problem(_ bytes: [UInt8]) -> String? {
    switch self {
    case .transportStream: Self.transportStreamProblem(bytes)
    case .fragmentedMP4: Self.boxProblem(bytes)
    case .aac, .ac3, .mpegAudio: nil
    }
  }

  private static func transportStreamProblem(_ bytes: [UInt8]) -> String? {
    guard bytes.count % packetBytes == 0 else {
      return "the segment ends within a transport packet"
    }
    let isWhole = stride(from: 0, to: bytes.count, by: packetBytes).allSatisfy { bytes[$0] == 0x47 }
    return isWhole ? nil : "a transport packet does not begin with the sync byte"
  }

  /// Returns a description of what is wrong with an MP4 segment; nil if it consists of complete
  /// boxes (ISO/IEC 14496-12, section 4.2) that include `moof` and `mdat`.
  private static func boxProblem(_ bytes: [UInt8]) -> String? {
    var place = 0
    var (hasFragment, hasData) = (false, false)
    while place < bytes.count {
      guard let box = MP4Box(bytes, at: place) else { return "the segment ends within a box" }
      if box.type == "moof" { hasFragment = true }
      if box.type == "mdat" { hasData = true }
      place = box.end
    }
    return hasFragment && hasData ? nil : "the segment contains no complete fragment"
  }
}

/// The type and position of an MP4 box.
struct MP4Box {
  let type: String
  /// Offset of the content, in bytes. `end` is the offset of the first byte after the box.
  let start: Int
  let end: Int

  /// Reads the header of the box at offset `place`. Returns nil if the header is invalid or
  /// incomplete, or if the box extends beyond `limit` (by default, the end of `bytes`).
  init?(_ bytes: [UInt8], at place: Int, within limit: Int? = nil) {
    let limit = limit ?? bytes.count
    func number(_ at: Int, _ count: Int) -> Int {
      bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) }
    }
    guard place >= 0, limit <= bytes.count, limit - place >= 8 else { return nil }
    var (size, header) = (number(place, 4), 8)
    if size == 1 {
      guard limit - place >= 16, bytes[place + 8] == 0 else { return nil }
      (size, header) = (number(place + 8, 8), 16)
    } else if size == 0 {
      size = limit - place
    }
    guard size >= header, size <= limit - place else { return nil }
    type = String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self)
    (start, end) = (place + header, place + size)
  }
}
