// SPDX-License-Identifier: Apache-2.0

/// One track of a movie, with the index of its samples.
struct MovieTrack {
  let identifier: UInt32
  let media: MovieMedia
  var isEnabled = true
  /// Tracks with the same number are alternatives. A track with the number 0 has no alternatives.
  var alternateGroup: Int16 = 0
  /// The type of a reference to another track, and the identifier of that track; nil for no
  /// reference.
  var reference: (type: String, track: UInt32)?
  /// The number of frames at the start of the track that players must skip.
  var delay: Int64 = 0

  /// The chunks, in the order of the file.
  private var chunks = PagedList<Chunk>()
  /// The size of each sample in bytes; empty for PCM.
  private var sizes = PagedList<UInt16>()
  /// The offset in the file of the track's last chunk, in bytes; 0 if there is no chunk.
  private var lastOffset: Int64 = 0
  /// Runs of consecutive samples with the same duration, which is `ticks` frames for each sample.
  private(set) var durations: [(count: UInt32, ticks: UInt32)] = []
  /// The total duration of the samples, in frames.
  private(set) var length: Int64 = 0

  /// An entry of the index. Its fields are 32-bit because the index stays in memory until the
  /// recording ends.
  private struct Chunk {
    /// The distance in bytes from the start of the previous chunk or, for the first chunk, from the
    /// start of the file.
    var distance: UInt32
    var samples: UInt32
  }

  init(_ identifier: UInt32, _ media: MovieMedia) {
    self.identifier = identifier
    self.media = media
  }

  /// The number of samples with a size in the index; 0 for PCM.
  var sizedSamples: Int { sizes.count }

  /// Adds a chunk of samples. `sizes` contains the sizes of the samples in bytes (at most 65,535),
  /// and `ticks` contains their durations in frames.
  mutating func add(offset: Int64, sizes new: [Int], ticks: [Int]) {
    guard !new.isEmpty else { return }
    addChunk(offset: offset, samples: new.count)
    for size in new { sizes.append(UInt16(size)) }
    for ticks in ticks { add(count: 1, ticks: ticks) }
  }

  /// Adds a chunk of PCM frames. Each frame is a sample.
  mutating func add(offset: Int64, frames: Int) {
    guard frames > 0 else { return }
    addChunk(offset: offset, samples: frames)
    add(count: frames, ticks: 1)
  }

  private mutating func addChunk(offset: Int64, samples: Int) {
    chunks.append(Chunk(distance: UInt32(offset - lastOffset), samples: UInt32(samples)))
    lastOffset = offset
  }

  /// Subtracts `excess` ticks from the duration of the last sample that lasts longer than `excess`.
  /// Does nothing if no sample lasts longer or `excess` is not positive.
  mutating func shortenLast(by excess: Int64) {
    guard excess > 0, let index = durations.lastIndex(where: { Int64($0.ticks) > excess }) else {
      return
    }
    let run = durations[index]
    let shorter = (count: UInt32(1), ticks: run.ticks - UInt32(excess))
    let rest = run.count > 1 ? [(count: run.count - 1, ticks: run.ticks)] : []
    durations.replaceSubrange(index...index, with: rest + [shorter])
    length -= excess
  }

  private mutating func add(count: Int, ticks: Int) {
    length += Int64(count) * Int64(ticks)
    if let last = durations.last, last.ticks == UInt32(ticks),
      Int(last.count) + count <= Int(UInt32.max)
    {
      durations[durations.count - 1].count += UInt32(count)
    } else {
      durations.append((UInt32(count), UInt32(ticks)))
    }
  }
}

extension MovieTrack {
  /// Adds the `trak` box.
  ///
  /// - Parameters:
  ///   - rate: the number of ticks per second, both in the movie and in the track.
  ///   - frames: the length of the movie in ticks; 0 for a fragmented movie.
  ///   - date: the time of creation and modification, in seconds since the start of 1904.
  func write(to boxes: inout BoxBytes, rate: Int, frames: Int64, date: UInt32) {
    boxes.box("trak") { track in
      // The flags mean: enabled (1), used in the movie (2), used in the preview (4).
      track.box("tkhd", flags: isEnabled ? 7 : 6) { header in
        header.put(date)
        header.put(date)
        header.put(identifier)
        header.zeros(4)
        header.put(UInt32(clamping: frames))
        header.zeros(10)
        header.put(alternateGroup)
        header.put(media.isSound ? UInt16(0x100) : 0)
        header.zeros(2)
        header.putMatrix()
        header.zeros(8)
      }
      if delay > 0 {
        // In a fragmented movie, a duration of 0 stands for the complete track.
        track.box("edts") { edits in
          edits.box("elst", flags: 0) { list in
            list.put(UInt32(1))
            list.put(UInt32(clamping: frames))
            list.put(Int32(delay))
            list.put(UInt32(0x10000))
          }
        }
      }
      if let reference {
        track.box("tref") { $0.box(reference.type) { $0.put(reference.track) } }
      }
      track.box("mdia") { writeMedia(to: &$0, rate: rate, date: date) }
    }
  }

  private func writeMedia(to boxes: inout BoxBytes, rate: Int, date: UInt32) {
    boxes.box("mdhd", flags: 0) { header in
      header.put(date)
      header.put(date)
      header.put(UInt32(rate))
      header.put(UInt32(clamping: length))
      // The language is undetermined ("und").
      header.put(UInt16(0x55C4))
      header.zeros(2)
    }
    boxes.writeHandler("mhlr", media.isSound ? "soun" : "meta")
    boxes.box("minf") { information in
      if media.isSound {
        information.box("smhd", flags: 0) { $0.zeros(4) }
      } else {
        information.box("gmhd") { header in
          header.box("gmin", flags: 0) { general in
            // Like QuickTime, write the graphics mode "dither copy" (0x40) and the colour grey.
            for value in [0x40, 0x8000, 0x8000, 0x8000, 0, 0] { general.put(UInt16(value)) }
          }
        }
      }
      information.writeHandler("dhlr", "alis")
      information.box("dinf") { data in
        data.box("dref", flags: 0) { references in
          references.put(UInt32(1))
          // The flag 1 means that the samples are in this file.
          references.box("alis", flags: 1) { _ in }
        }
      }
      information.box("stbl") { writeIndex(to: &$0) }
    }
  }

  private func writeIndex(to boxes: inout BoxBytes) {
    boxes.box("stsd", flags: 0) { descriptions in
      descriptions.put(UInt32(1))
      media.writeDescription(to: &descriptions)
    }
    boxes.box("stts", flags: 0) { table in
      table.put(UInt32(durations.count))
      for run in durations {
        table.put(run.count)
        table.put(run.ticks)
      }
    }
    writeChunkLengths(to: &boxes)
    boxes.box("stsz", flags: 0) { table in
      table.put(UInt32(chunks.count == 0 ? 0 : media.sampleSize))
      let samples = chunks.elements.reduce(0) { $0 + Int64($1.samples) }
      table.put(UInt32(clamping: samples))
      for size in sizes.elements { table.put(UInt32(size)) }
    }
    boxes.box("co64", flags: 0) { table in
      table.put(UInt32(chunks.count))
      var offset: UInt64 = 0
      for chunk in chunks.elements {
        offset += UInt64(chunk.distance)
        table.put(offset)
      }
    }
  }

  /// Adds the `stsc` box, which has an entry for each run of chunks with the same number of
  /// samples.
  private func writeChunkLengths(to boxes: inout BoxBytes) {
    var runs: [(first: UInt32, samples: UInt32)] = []
    for (index, chunk) in chunks.elements.enumerated() where runs.last?.samples != chunk.samples {
      runs.append((UInt32(index + 1), chunk.samples))
    }
    boxes.box("stsc", flags: 0) { table in
      table.put(UInt32(runs.count))
      for run in runs {
        table.put(run.first)
        table.put(run.samples)
        table.put(UInt32(1))
      }
    }
  }
}

extension BoxBytes {
  mutating func putMatrix() {
    for value in [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000] { put(UInt32(value)) }
  }

  fileprivate mutating func writeHandler(_ type: String, _ subtype: String) {
    box("hdlr", flags: 0) { handler in
      handler.put(type)
      handler.put(subtype)
      // These bytes are the manufacturer, the flags, their mask and an empty name.
      handler.zeros(13)
    }
  }
}
