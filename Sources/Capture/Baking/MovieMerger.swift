// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// Copies tracks from one movie to another (ISO 14496-12, section 8). The bytes of the samples do
/// not change.
enum MovieMerger {
  struct Failure: Error { let reason: String }

  /// Adds the tracks, user data and metadata of `source` to `target`.
  ///
  /// - Parameters:
  ///   - source: a movie without fragments.
  ///   - dropped: the numbers of the tracks not to copy.
  ///   - replaced: the numbers of a dropped track and of its replacement in `target`; 0 for none.
  ///     In the copied tracks, references to the dropped track become references to the
  ///     replacement.
  ///   - target: the movie to change. Its last box must be the `moov` box.
  /// - Returns: the numbers of the tracks that cannot be copied.
  /// - Throws: `Failure` if a file cannot be read or written, if the `moov` box of a file is
  ///   missing, incomplete or larger than 1 GiB, or if the track numbers of `target` are too large.
  static func add(
    from source: String, except dropped: Set<UInt32>, replaced: (old: UInt32, new: UInt32),
    to target: String
  ) throws(Failure) -> [UInt32] {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    let output = open(target, O_RDWR | O_CLOEXEC)
    defer {
      if input >= 0 { close(input) }
      if output >= 0 { close(output) }
    }
    guard input >= 0, output >= 0 else { throw latest() }
    guard let other = MovieIndex(descriptor: input), let own = MovieIndex(descriptor: output) else {
      throw Failure(
        reason: "the index of the input or of the new movie is missing or cannot be read")
    }
    var tracks: [(box: MovieBox, chunks: MovieChunks)] = []
    var refused: [UInt32] = []
    for track in other.tracks where !dropped.contains(other.identifier(track)) {
      if let chunks = MovieChunks(other, track) {
        tracks.append((track, chunks))
      } else {
        refused.append(other.identifier(track))
      }
    }
    let moved = try copy(tracks.map(\.chunks), from: input, to: output, at: own.offset)
    let base = own.tracks.map(own.identifier).max() ?? 0
    var numbers = [replaced.old: replaced.new]
    guard tracks.count < UInt32.max - base else {
      throw Failure(reason: "the track numbers of the new movie are too large")
    }
    for (added, track) in tracks.enumerated() {
      numbers[other.identifier(track.box)] = base + UInt32(added) + 1
    }
    let rewriter = TrackRewriter(
      index: other, numbers: numbers, ticks: (other.timeScale, own.timeScale))
    let boxes = zip(tracks, moved.offsets).map { rewriter.track($0.box, offsets: $1) }
    let movie = own.merged(
      with: boxes, extra: other, nextTrack: (numbers.values.max() ?? base) + 1,
      duration: boxes.map(rewriter.duration).max() ?? 0)
    try write(movie, to: output, at: moved.end)
    guard ftruncate(output, off_t(moved.end) + off_t(movie.count)) == 0, fsync(output) == 0 else {
      throw latest()
    }
    return refused
  }

  /// Copies the chunks into a new `mdat` box at `start`. Returns the chunks' new offsets, and the
  /// offset of the box's end.
  private static func copy(
    _ tracks: [MovieChunks], from input: Int32, to output: Int32, at start: Int64
  ) throws(Failure) -> (offsets: [[Int64]], end: Int64) {
    var offsets = tracks.map { [Int64](repeating: 0, count: $0.chunks.count) }
    var order: [(offset: Int64, track: Int, chunk: Int)] = []
    for (t, track) in tracks.enumerated() {
      for (c, chunk) in track.chunks.enumerated() { order.append((chunk.offset, t, c)) }
    }
    order.sort { $0.offset < $1.offset }
    var at = start + 16
    for item in order {
      let chunk = tracks[item.track].chunks[item.chunk]
      offsets[item.track][item.chunk] = at
      var done: Int64 = 0
      while done < chunk.size {
        let count = Int(min(1 << 20, chunk.size - done))
        guard let bytes = MovieIndex.read(input, chunk.offset + done, count) else {
          throw Failure(
            reason: "the samples of a track are missing or cannot be read; copy or download the "
              + "input again")
        }
        try write(bytes, to: output, at: at + done)
        done += Int64(count)
      }
      at += chunk.size
    }
    let header = BoxBytes.of { box in
      box.put(UInt32(1))
      box.put("mdat")
      box.put(UInt64(at - start))
    }
    try write(header, to: output, at: start)
    return (offsets, at)
  }

  private static func write(_ bytes: [UInt8], to output: Int32, at offset: Int64) throws(Failure) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(output, $0.baseAddress! + done, bytes.count - done, off_t(offset) + done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw latest() }
      done += count
    }
  }

  private static func latest() -> Failure { Failure(reason: SystemError.latest.description) }
}

extension MovieIndex {
  /// Returns the `moov` box with added tracks, and with the user data and metadata of another
  /// movie.
  fileprivate func merged(
    with tracks: [[UInt8]], extra other: MovieIndex, nextTrack: UInt32, duration: UInt64
  ) -> [UInt8] {
    BoxBytes.of { boxes in
      boxes.box("moov") { movie in
        for box in MovieBox.list(bytes, in: content) {
          var part = Array(bytes[box.range])
          if box.type == "mvhd" {
            part.setNumber(max(part.number(24, 4), min(duration, 0xFFFF_FFFF)), 24, 4)
            part.setNumber(UInt64(nextTrack), part.count - 4, 4)
          }
          movie.put(part)
        }
        for track in tracks { movie.put(track) }
        for box in MovieBox.list(other.bytes, in: other.content)
        where ["udta", "meta"].contains(box.type) {
          movie.put(Array(other.bytes[box.range]))
        }
      }
    }
  }
}
