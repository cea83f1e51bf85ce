// SPDX-License-Identifier: Apache-2.0

/// A fragment of a movie: a `moof` box, and an `mdat` box with AAC packets, PCM frames and metadata
/// samples.
struct MovieFragment {
  var packets: [[UInt8]] = []
  /// PCM, frames x channels.
  var sound: [UInt8] = []
  var frames = 0
  /// The metadata samples, with their durations in frames.
  var metadata: [(bytes: [UInt8], ticks: Int)] = []
  /// The frame at which the first metadata sample starts, counted from the start of the movie; nil
  /// for the first frame of the fragment.
  var metadataStart: Int64?

  /// For each track, the offset in bytes of its first sample, counted from the start of the
  /// fragment.
  struct Offsets {
    var packets: Int
    var sound: Int
    var metadata: Int
  }

  /// Returns the boxes and the offset of each track's first sample.
  ///
  /// - Parameters:
  ///   - sequence: the number of the fragment, counted from 1.
  ///   - frame: the number of PCM frames before the fragment.
  ///   - packet: the number of AAC packets before the fragment.
  ///   - soundTrack: the identifier of the PCM track.
  func bytes(
    sequence: UInt32, frame: Int64, packet: Int64, soundTrack: UInt32
  ) -> (bytes: [UInt8], offsets: Offsets) {
    func header(_ offsets: Offsets) -> [UInt8] {
      BoxBytes.of { boxes in
        boxes.box("moof") { moof in
          moof.box("mfhd", flags: 0) { $0.put(sequence) }
          writePackets(to: &moof, at: packet, offset: offsets.packets)
          writeSound(to: &moof, track: soundTrack, at: frame, offset: offsets.sound)
          writeMetadata(to: &moof, at: metadataStart ?? frame, offset: offsets.metadata)
        }
      }
    }
    let start = header(Offsets(packets: 0, sound: 0, metadata: 0)).count + 8
    let packetBytes = packets.reduce(0) { $0 + $1.count }
    let offsets = Offsets(
      packets: start, sound: start + packetBytes, metadata: start + packetBytes + sound.count)
    var result = BoxBytes()
    result.put(header(offsets))
    result.box("mdat") { data in
      for packet in packets { data.put(packet) }
      data.put(sound)
      for sample in metadata { data.put(sample.bytes) }
    }
    return (result.bytes, offsets)
  }

  private func writePackets(to moof: inout BoxBytes, at packet: Int64, offset: Int) {
    guard !packets.isEmpty else { return }
    // The flag 0x200 means that the table lists the sizes of the samples. All samples have the
    // default duration.
    let time = packet * Int64(StereoTrack.packetFrames)
    writeRun(to: &moof, track: 1, time: time, flags: 0x200, count: packets.count, offset: offset) {
      for packet in packets { $0.put(UInt32(packet.count)) }
    }
  }

  /// Adds the frames as one sample. If each frame were a sample, readers would need far more memory
  /// and time.
  private func writeSound(to moof: inout BoxBytes, track: UInt32, at frame: Int64, offset: Int) {
    guard frames > 0 else { return }
    writeRun(to: &moof, track: track, time: frame, flags: 0x300, count: 1, offset: offset) {
      $0.put(UInt32(frames))
      $0.put(UInt32(sound.count))
    }
  }

  private func writeMetadata(to moof: inout BoxBytes, at frame: Int64, offset: Int) {
    guard !metadata.isEmpty else { return }
    let count = metadata.count
    writeRun(to: &moof, track: 3, time: frame, flags: 0x300, count: count, offset: offset) {
      for sample in metadata {
        $0.put(UInt32(sample.ticks))
        $0.put(UInt32(sample.bytes.count))
      }
    }
  }

  private func writeRun(
    to moof: inout BoxBytes, track: UInt32, time: Int64, flags: UInt32, count: Int, offset: Int,
    samples: (inout BoxBytes) -> Void
  ) {
    moof.box("traf") { run in
      // The flag 0x20000 means that `offset` is relative to the start of the `moof` box.
      run.box("tfhd", flags: 0x20000) { $0.put(track) }
      run.box("tfdt", version: 1, flags: 0) { $0.put(UInt64(time)) }
      run.box("trun", flags: flags | 1) { table in
        table.put(UInt32(count))
        table.put(UInt32(offset))
        samples(&table)
      }
    }
  }
}
