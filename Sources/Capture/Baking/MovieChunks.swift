// SPDX-License-Identifier: Apache-2.0

/// The chunks that contain a track's samples in a movie file.
struct MovieChunks {
  /// Each chunk's offset in the file and its size, in bytes.
  private(set) var chunks: [(offset: Int64, size: Int64)] = []

  /// Reads the tables of a `trak` box. Returns nil if a table is missing or incomplete, if the size
  /// of a chunk is out of range, or if the track refers to another file.
  init?(_ index: MovieIndex, _ track: MovieBox) {
    let bytes = index.bytes
    guard let tables = MovieBox.find(["mdia", "minf", "stbl"], bytes, in: track.content),
      Self.isSelfContained(bytes, track)
    else { return nil }
    let boxes = MovieBox.list(bytes, in: tables.content)
    func table(_ type: String) -> Int? {
      boxes.first { $0.type == type }.map { $0.content.lowerBound }
    }
    guard let sizes = table("stsz"), let runs = table("stsc"),
      let offsets = table("co64") ?? table("stco")
    else { return nil }
    let width = table("co64") == nil ? 4 : 8
    let constant = Int64(bytes.number(sizes + 4, 4))
    let samples = Int(bytes.number(sizes + 8, 4))
    let chunkCount = Int(bytes.number(offsets + 4, 4))
    let runCount = Int(bytes.number(runs + 4, 4))
    guard offsets + 8 + chunkCount * width <= tables.content.upperBound,
      runs + 8 + runCount * 12 <= tables.content.upperBound,
      constant > 0 || sizes + 12 + samples * 4 <= tables.content.upperBound
    else { return nil }
    let fixed = constant > 1 ? constant : constant * (Self.frameBytes(bytes, boxes) ?? 1)
    var (sample, run) = (0, 0)
    for chunk in 0..<chunkCount {
      while run + 1 < runCount, Int(bytes.number(runs + 8 + 12 * (run + 1), 4)) <= chunk + 1 {
        run += 1
      }
      let count = min(
        samples - sample, runCount == 0 ? 0 : Int(bytes.number(runs + 12 + 12 * run, 4)))
      let (product, isTooLarge) = fixed.multipliedReportingOverflow(by: Int64(count))
      guard !isTooLarge else { return nil }
      var size = product
      if constant == 0 {
        for i in 0..<count { size += Int64(bytes.number(sizes + 12 + 4 * (sample + i), 4)) }
      }
      sample += count
      chunks.append((Int64(clamping: bytes.number(offsets + 8 + chunk * width, width)), size))
    }
  }

  private static func isSelfContained(_ bytes: [UInt8], _ track: MovieBox) -> Bool {
    guard
      let list = MovieBox.find(["mdia", "minf", "dinf", "dref"], bytes, in: track.content)
    else { return true }
    let entries = MovieBox.list(bytes, in: list.content.dropFirst(8))
    return entries.allSatisfy { bytes.number($0.content.lowerBound, 4) & 1 == 1 }
  }

  /// Returns the number of bytes in a frame of sound; nil if it is unknown. This number replaces
  /// the sample size 1, which old movies state for uncompressed sound.
  private static func frameBytes(_ bytes: [UInt8], _ boxes: [MovieBox]) -> Int64? {
    guard let descriptions = boxes.first(where: { $0.type == "stsd" }),
      let entry = MovieBox.list(
        bytes, in: descriptions.content.dropFirst(8)
      ).first
    else { return nil }
    let start = entry.content.lowerBound
    let version = bytes.number(start + 8, 2)
    if version == 2 { return Int64(bytes.number(start + 56, 4)) }
    if version == 1 {
      let packet = bytes.number(start + 28, 4)
      return packet == 0 ? nil : Int64(bytes.number(start + 36, 4) / packet)
    }
    return Int64(bytes.number(start + 16, 2) * (bytes.number(start + 18, 2) / 8))
  }
}
