// SPDX-License-Identifier: Apache-2.0

import Glibc
import Media

/// A QuickTime movie that can be read while it is written (Apple, QuickTime File Format; fragments:
/// ISO 14496-12, section 8.8).
///
/// During the recording, the file is a fragmented movie: a `moov` box with empty sample tables, and
/// then a `moof` and an `mdat` box for every segment. At the end, a `moov` box with complete sample
/// tables is appended. Then everything between the `ftyp` box and this `moov` box becomes one
/// `mdat` box, so the movie is no longer fragmented. A movie with too many frames for a 32-bit
/// number stays fragmented.
///
/// If `RecordingFormat.isFirstOrder` is true, the movie has three tracks: stereo AAC, PCM and
/// metadata. Otherwise, it has one PCM track.
final class MovieBody: RecordingBody {
  let segmentSeconds = 0.5
  private(set) var storedFrames: Int64 = 0
  private let format: RecordingFormat
  private let path: String
  private let stereo: StereoTrack?
  private let date: UInt32
  /// The offset in the file of the 16 bytes that `finish` replaces with an `mdat` header.
  private var markOffset: Int64 = 0
  private var sequence: UInt32 = 0
  private var sound: MovieTrack
  private var aac: MovieTrack?
  private var metadata: MovieTrack?
  /// The metadata of the frames that no metadata sample covers yet.
  private var second = MetadataSecond()

  /// The sample rates that a movie with a first-order soundfield can have, in Hz.
  static let stereoRates = StereoTrack.sampleRates

  /// Creates the tracks and, for a first-order soundfield, opens the AAC encoder.
  ///
  /// - Throws: `RecordingError.encodingFailed` if the AAC encoder cannot be opened.
  init(_ format: RecordingFormat, path: String) throws(RecordingError) {
    self.format = format
    self.path = path
    // QuickTime states dates in seconds since the start of 1904.
    date = UInt32(clamping: time(nil) + 2_082_844_800)
    guard format.isFirstOrder else {
      stereo = nil
      sound = MovieTrack(1, .pcm(format))
      return
    }
    let stereo: StereoTrack
    do { stereo = try StereoTrack(format) } catch {
      throw .encodingFailed(path: path, reason: error.reason)
    }
    self.stereo = stereo
    var aac = MovieTrack(
      1, .aac(header: stereo.header, sampleRate: format.sampleRate, bitRate: stereo.bitRate))
    aac.alternateGroup = 1
    aac.delay = Int64(StereoTrack.delay)
    self.aac = aac
    // Some players ignore the alternate group and play all enabled tracks, so the PCM track is
    // disabled.
    sound = MovieTrack(2, .pcm(format))
    sound.isEnabled = false
    sound.alternateGroup = 1
    sound.reference = ("fall", 1)
    var metadata = MovieTrack(3, .metadata)
    metadata.reference = ("cdsc", 2)
    self.metadata = metadata
  }

  private var tracks: [MovieTrack] { [aac, sound, metadata].compactMap(\.self) }

  func begin(_ output: RecordingOutput) throws(RecordingError) {
    var start = BoxBytes()
    start.box("ftyp") { type in
      type.put("qt  ")
      type.put(UInt32(0x2005_0300))
      type.put("qt  ")
    }
    markOffset = Int64(start.bytes.count)
    start.box("wide") { _ in }
    start.box("free") { $0.zeros(8) }
    start.put(movie(isFragmented: true))
    try output.append(start.bytes)
  }

  func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError) {
    var fragment = MovieFragment()
    fragment.sound = segment.bytes(format.codec)
    fragment.frames = segment.frames
    if let stereo {
      fragment.packets = try attempt { () throws(AudioEncoder.Failure) in
        try stereo.encode(segment.samples)
      }
      second.add(segment, at: storedFrames, channels: format.channels)
      if second.frames >= format.sampleRate {
        fragment.metadataStart = second.start
        fragment.metadata = [(second.sample(sampleRate: format.sampleRate), second.frames)]
      }
    }
    try store(fragment, in: output)
    if !fragment.metadata.isEmpty { second = MetadataSecond() }
  }

  func finish(
    _ output: RecordingOutput, tuning: String, isWhole: Bool
  ) throws(RecordingError) {
    if isWhole, let stereo, storedFrames > 0 {
      var fragment = MovieFragment()
      fragment.packets = try attempt { () throws(AudioEncoder.Failure) in try stereo.finish() }
      let missing = packetCount - (aac?.sizedSamples ?? 0)
      fragment.packets = Array(fragment.packets.prefix(max(0, missing)))
      // The sample with the tuning lasts one frame, so an earlier sample becomes one frame shorter.
      if second.frames <= 1 { metadata?.shortenLast(by: 1) }
      if second.frames > 0 {
        fragment.metadataStart = second.start
        let rest = second.sample(sampleRate: format.sampleRate)
        fragment.metadata = [(rest, max(1, second.frames - 1))]
      }
      fragment.metadata.append((MetadataSample.bytes(tuning), 1))
      try store(fragment, in: output)
    }
    // The tables store numbers of frames in 32 bits. A movie with too many frames stays fragmented.
    guard storedFrames + Int64(StereoTrack.delay) <= UInt32.max else { return }
    if let length = aac?.length {
      aac?.shortenLast(by: length - storedFrames - Int64(StereoTrack.delay))
    }
    let end = output.size
    try output.append(movie(isFragmented: false))
    do {
      try output.synchronise()
      let mark = BoxBytes.of { mark in
        mark.put(UInt32(1))
        mark.put("mdat")
        mark.put(UInt64(end - markOffset))
      }
      try output.patch(mark, at: markOffset)
    } catch {
      output.cut(to: end)
      throw error
    }
  }

  /// The number of AAC packets that contain the encoder's delay and the stored frames.
  private var packetCount: Int {
    (Int(storedFrames) + StereoTrack.delay - 1) / StereoTrack.packetFrames + 1
  }

  func store(
    _ fragment: MovieFragment, in output: RecordingOutput
  ) throws(RecordingError) {
    sequence += 1
    let start = output.size
    var (bytes, offsets) = fragment.bytes(
      sequence: sequence, frame: storedFrames, packet: Int64(aac?.sizedSamples ?? 0),
      soundTrack: sound.identifier)
    // If this process is killed while it writes the fragment, a `free` box contains the written
    // bytes, and readers skip it. FFmpeg rejects a file that ends within a `moof` box.
    let header = Array(bytes[..<8])
    let cover = BoxBytes.of { box in
      box.put(UInt32(bytes.count))
      box.put("free")
    }
    bytes.replaceSubrange(..<8, with: cover)
    try output.append(bytes)
    try output.patch(header, at: start)
    aac?.add(
      offset: start + Int64(offsets.packets), sizes: fragment.packets.map(\.count),
      ticks: fragment.packets.map { _ in StereoTrack.packetFrames })
    sound.add(offset: start + Int64(offsets.sound), frames: fragment.frames)
    var place = start + Int64(offsets.metadata)
    for sample in fragment.metadata {
      metadata?.add(offset: place, sizes: [sample.bytes.count], ticks: [sample.ticks])
      place += Int64(sample.bytes.count)
    }
    storedFrames += Int64(fragment.frames)
  }

  /// Returns the `moov` box. For a fragmented movie, it has an `mvex` box and empty sample tables.
  /// Otherwise, the tables list all samples.
  private func movie(isFragmented: Bool) -> [UInt8] {
    let frames = isFragmented ? 0 : storedFrames
    return BoxBytes.of { boxes in
      boxes.box("moov") { movie in
        movie.box("mvhd", flags: 0) { header in
          header.put(date)
          header.put(date)
          header.put(UInt32(format.sampleRate))
          header.put(UInt32(clamping: frames))
          header.put(UInt32(0x10000))
          header.put(UInt16(0x100))
          header.zeros(10)
          header.putMatrix()
          header.zeros(24)
          header.put(UInt32(tracks.count + 1))
        }
        for track in tracks {
          track.write(to: &movie, rate: format.sampleRate, frames: frames, date: date)
        }
        if isFragmented {
          movie.box("mvex") { extends in
            for track in tracks {
              extends.box("trex", flags: 0) { defaults in
                // The fields are the track's number, and the defaults for a sample's description,
                // duration, size and flags.
                for value in [track.identifier, 1, track.defaultTicks, 0, 0] { defaults.put(value) }
              }
            }
          }
        }
      }
    }
  }

  private func attempt<Result>(
    _ body: () throws(AudioEncoder.Failure) -> Result
  ) throws(RecordingError) -> Result {
    do { return try body() } catch { throw .encodingFailed(path: path, reason: error.reason) }
  }
}

extension MovieTrack {
  fileprivate var defaultTicks: UInt32 {
    if case .aac = media { UInt32(StereoTrack.packetFrames) } else { 1 }
  }
}
