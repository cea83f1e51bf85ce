// SPDX-License-Identifier: Apache-2.0

/// Adapts the track numbers, durations and chunk offsets in a `trak` box to another movie.
struct TrackRewriter {
  let index: MovieIndex
  /// The new numbers of the copied and replaced tracks, keyed by the old numbers.
  let numbers: [UInt32: UInt32]
  /// The ticks per second of the old and the new movie.
  let ticks: (old: UInt64, new: UInt64)
  /// The maximum number of nested containers whose content is adapted. A valid `trak` box has 4.
  private static let deepest = 8
  private static let containers: Set = ["trak", "mdia", "minf", "stbl", "edts"]

  /// Returns the adapted box. `offsets` are the new offsets of the track's chunks in the file.
  func track(_ track: MovieBox, offsets: [Int64]) -> [UInt8] {
    BoxBytes.of { write(track, offsets, depth: 0, to: &$0) }
  }

  /// Returns the duration in an adapted `trak` box, in ticks of the new movie; 0 if it is missing.
  func duration(_ track: [UInt8]) -> UInt64 {
    guard let header = MovieBox.find(["trak", "tkhd"], track, in: 0..<track.count) else { return 0 }
    let at = header.content.lowerBound
    return track.number(at, 1) == 1 ? track.number(at + 28, 8) : track.number(at + 20, 4)
  }

  private func write(
    _ box: MovieBox, _ offsets: [Int64], depth: Int, to boxes: inout BoxBytes
  ) {
    switch box.type {
    case _ where depth < Self.deepest && Self.containers.contains(box.type):
      boxes.box(box.type) { content in
        for part in MovieBox.list(index.bytes, in: box.content) {
          write(part, offsets, depth: depth + 1, to: &content)
        }
      }
    case "tkhd": boxes.put(header(box))
    case "elst": boxes.put(edits(box))
    case "tref": boxes.put(references(box))
    case "stco", "co64":
      boxes.box("co64", flags: 0) { table in
        table.put(UInt32(offsets.count))
        for offset in offsets { table.put(UInt64(offset)) }
      }
    default: boxes.put(Array(index.bytes[box.range]))
    }
  }

  private func scaled(_ value: UInt64, limit: UInt64) -> UInt64 {
    // The value `limit` means "unknown", so it is kept.
    guard ticks.old > 0, value < limit else { return value }
    let (high, low) = value.multipliedFullWidth(by: ticks.new)
    guard high < ticks.old else { return limit }
    return min(limit, ticks.old.dividingFullWidth((high, low)).quotient)
  }

  private func header(_ box: MovieBox) -> [UInt8] {
    var bytes = Array(index.bytes[box.range])
    let isLong = index.isLong(box)
    let number = isLong ? 28 : 20
    let old = UInt32(bytes.number(number, 4))
    bytes.setNumber(UInt64(numbers[old] ?? old), number, 4)
    let (at, size) = isLong ? (36, 8) : (28, 4)
    let limit: UInt64 = isLong ? .max : 0xFFFF_FFFF
    bytes.setNumber(scaled(bytes.number(at, size), limit: limit), at, size)
    return bytes
  }

  private func edits(_ box: MovieBox) -> [UInt8] {
    var bytes = Array(index.bytes[box.range])
    let size = index.isLong(box) ? 8 : 4
    let limit: UInt64 = size == 8 ? .max : 0xFFFF_FFFF
    for entry in 0..<Int(bytes.number(12, 4)) {
      let at = 16 + entry * (2 * size + 4)
      guard at + size <= bytes.count else { break }
      bytes.setNumber(scaled(bytes.number(at, size), limit: limit), at, size)
    }
    return bytes
  }

  /// Returns a `tref` box with the new numbers. References to tracks without a new number are
  /// omitted.
  private func references(_ box: MovieBox) -> [UInt8] {
    BoxBytes.of { boxes in
      boxes.box("tref") { list in
        for part in MovieBox.list(index.bytes, in: box.content) {
          let old = stride(from: part.content.lowerBound, to: part.content.upperBound, by: 4)
          let new = old.compactMap { numbers[UInt32(index.bytes.number($0, 4))] }
          guard !new.isEmpty else { continue }
          list.box(part.type) { entries in for number in new { entries.put(number) } }
        }
      }
    }
  }
}
