// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Finds what QuickTime, MP4 and M4A files say about ambisonic channels in their sample
/// descriptions: `chan` (QuickTime File Format) and `SA3D` (Spatial Audio RFC, version 0), and about
/// loudness. Every walk is bounded, for a file may say anything.
struct QuickTimeBoxes {
  private struct Box {
    let type: String
    /// Of the payload, from the start of the file.
    let start: Int64
    let end: Int64
  }

  private static let maximumBoxes = 4096
  private static let maximumDescription: Int64 = 65536
  private let source: any ByteSource
  private let size: Int64

  init(_ source: any ByteSource) {
    self.source = source
    size = source.byteCount ?? 0
  }

  /// Whether this begins as a QuickTime family file and ends before its index.
  var isCutShort: Bool {
    let top = boxes(from: 0, to: size)
    return top.contains { $0.type == "ftyp" } && !top.contains { $0.type == "moov" }
  }

  /// Layouts by track identifier, for the tracks that are labelled ambisonic.
  func ambisonicLayouts() -> [Int: ChannelLayout] {
    var layouts: [Int: ChannelLayout] = [:]
    guard let movie = boxes(from: 0, to: size).first(where: { $0.type == "moov" }) else {
      return [:]
    }
    for track in children(movie) where track.type == "trak" {
      guard let identifier = trackIdentifier(track),
        let description = descend(track, ["mdia", "minf", "stbl", "stsd"]),
        description.end - description.start <= Self.maximumDescription,
        let bytes = source.bytes(
          at: description.start, count: Int(description.end - description.start))
      else { continue }
      layouts[identifier] = SampleDescription(HeaderBytes(bytes)).ambisonicLayout
    }
    return layouts
  }

  /// Of the track's own `ludt` box, else of the film's; see `LoudnessBox`.
  func loudness(track identifier: Int) -> LoudnessBox? {
    guard let movie = boxes(from: 0, to: size).first(where: { $0.type == "moov" }) else {
      return nil
    }
    let track = children(movie).first { $0.type == "trak" && trackIdentifier($0) == identifier }
    // There may be several boxes of user data.
    let data = [track, movie].flatMap { owner in
      owner.map { children($0).filter { $0.type == "udta" } } ?? []
    }
    for owner in data {
      guard let box = descend(owner, ["ludt", "tlou"]),
        box.end - box.start <= Self.maximumDescription,
        let bytes = source.bytes(at: box.start, count: Int(box.end - box.start))
      else { continue }
      return LoudnessBox(bytes)
    }
    return nil
  }

  private func trackIdentifier(_ track: Box) -> Int? {
    guard let header = children(track).first(where: { $0.type == "tkhd" }),
      let bytes = source.bytes(
        at: header.start, count: Int(min(24, header.end - header.start)))
    else { return nil }
    let fields = HeaderBytes(bytes)
    return fields.big(0, bytes: 1) == 1
      ? fields.big32(20).map { Int($0) } : fields.big32(12).map { Int($0) }
  }

  private func descend(_ box: Box, _ path: [String]) -> Box? {
    path.reduce(Optional(box)) { parent, type in
      parent.flatMap { children($0).first { $0.type == type } }
    }
  }

  private func children(_ box: Box) -> [Box] { boxes(from: box.start, to: box.end) }

  private func boxes(from start: Int64, to end: Int64) -> [Box] {
    var found: [Box] = []
    var offset = start
    while offset <= end - 8, found.count < Self.maximumBoxes,
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
