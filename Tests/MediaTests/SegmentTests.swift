// SPDX-License-Identifier: Apache-2.0

import Media
import Testing

@Suite struct SegmentTests {
  private static let rate = 48000
  private static let signal = noise(channels: 2, frames: 3 * rate, bits: 16)

  /// Returns segments of 16-bit FLAC in fragmented MP4, about one second each.
  private func lossless(_ scratch: Scratch) throws -> [CodedSegment] {
    scratch.write(RawWAV(signal: Self.signal, samples: .int16).bytes, to: "in.wav")
    return try segments(scratch, codec: ["flac"])
  }

  private func segments(_ scratch: Scratch, codec: [String]) throws -> [CodedSegment] {
    try scratch.ffmpeg(
      ["-i", "@in.wav", "-strict", "-2", "-c:a"] + codec + [
        "-f", "hls", "-hls_segment_type", "fmp4", "-hls_time", "0.9", "-hls_playlist_type", "vod",
        "-hls_fmp4_init_filename", "init.mp4", "-hls_segment_filename", "@%d.m4s", "@list.m3u8",
      ])
    let start = scratch.bytes(of: "init.mp4")
    let count = scratch.names.count { $0.hasSuffix(".m4s") }
    try #require(count >= 3)
    return (0..<count).map {
      CodedSegment(name: "\($0).m4s", initialisation: start, bytes: scratch.bytes(of: "\($0).m4s"))
    }
  }

  /// Reads everything that a decoder returns before it needs a segment.
  private func read(_ decoder: SegmentDecoder, into sound: inout Planar) throws {
    let step = 700
    let storage = UnsafeMutablePointer<Float>.allocate(capacity: decoder.channels * step)
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(
      capacity: decoder.channels)
    defer {
      planes.deallocate()
      storage.deallocate()
    }
    for channel in 0..<decoder.channels {
      (planes + channel).initialize(to: storage + channel * step)
    }
    while true {
      let count = try decoder.read(into: planes, frames: step)
      if count == 0 { return }
      for channel in 0..<decoder.channels {
        sound[channel] += UnsafeBufferPointer(start: planes[channel], count: count)
      }
    }
  }

  private func decode(_ decoder: SegmentDecoder, _ rest: [CodedSegment]) throws -> Planar {
    var sound = Planar(repeating: [], count: decoder.channels)
    try read(decoder, into: &sound)
    for segment in rest {
      #expect(try decoder.append(segment) == .follows, "\(segment.name)")
      try read(decoder, into: &sound)
    }
    decoder.finish()
    try read(decoder, into: &sound)
    return sound
  }

  @Test func consecutiveSegmentsDecodeToTheOriginal() throws {
    let scratch = Scratch()
    let segments = try lossless(scratch)
    let decoder = try SegmentDecoder(first: segments[0], isStart: true)
    #expect(try decode(decoder, Array(segments.dropFirst())) == Self.signal)
    #expect(decoder.damages == 0 && decoder.framesRead == 3 * Self.rate)
    #expect(decoder.startTime == 0 && decoder.time == 3)
  }

  @Test func resampledSegmentsMatchTheResampledFile() throws {
    let scratch = Scratch()
    let segments = try lossless(scratch)
    let decoder = try SegmentDecoder(first: segments[0], isStart: true, sampleRate: 44100)
    let sound = try decode(decoder, Array(segments.dropFirst()))
    #expect(try sound == readAll(AudioFileReader(path: scratch / "in.wav", sampleRate: 44100)))
  }

  @Test func encoderDelayIsDroppedOnlyAtTheStart() throws {
    let scratch = Scratch()
    scratch.write(
      RawWAV(signal: tones(channels: 2, rate: Self.rate, frames: 3 * Self.rate)).bytes,
      to: "in.wav")
    let segments = try segments(scratch, codec: ["libopus"])
    let whole = try SegmentDecoder(first: segments[0], isStart: true)
    let inner = try SegmentDecoder(first: segments[0], isStart: false)
    let sound = try decode(whole, Array(segments.dropFirst()))
    let longer = try decode(inner, Array(segments.dropFirst()))
    let delay = longer[0].count - sound[0].count
    #expect((100...2000).contains(delay))
    #expect(longer[0].dropFirst(delay).elementsEqual(sound[0]))
  }

  @Test func damagedPacketBecomesSilenceOfItsLength() throws {
    let scratch = Scratch()
    var segments = try lossless(scratch)
    for offset in stride(from: 60_000, to: 60_600, by: 7) { segments[1].bytes[offset] ^= 0x5A }
    let decoder = try SegmentDecoder(first: segments[0], isStart: true)
    let sound = try decode(decoder, Array(segments.dropFirst()))
    #expect(decoder.damages == 1 && sound[0].count == 3 * Self.rate)
    let wrong = sound[0].indices.filter { sound[0][$0] != Self.signal[0][$0] }
    let (first, last) = (try #require(wrong.first), try #require(wrong.last))
    // The damage covers one packet and the faded frames after it.
    #expect(last - first < 4608 + 32)
    #expect(sound[0][first..<first + 4000].allSatisfy { $0 == 0 })
  }

  @Test func segmentsThatDoNotFollowAreNotAppended() throws {
    let scratch = Scratch()
    let segments = try lossless(scratch)
    let decoder = try SegmentDecoder(first: segments[0], isStart: true)
    var sound = Planar(repeating: [], count: 2)
    try read(decoder, into: &sound)
    guard case .jumps(let seconds) = try decoder.append(segments[2]) else {
      Issue.record("a segment after a gap was not reported as a jump")
      return
    }
    #expect((0.5...1.5).contains(seconds))
    let other = Scratch()
    other.write(RawWAV(signal: Self.signal, samples: .int16).bytes, to: "in.wav")
    #expect(try decoder.append(self.segments(other, codec: ["alac"])[1]) == .differs)
    #expect(try decoder.append(segments[1]) == .follows)
  }

  @Test func undecodableDataIsRefused() throws {
    let noise = [UInt8](repeating: 7, count: 5000)
    #expect(throws: MediaError.unrecognised(path: "a.m4s")) {
      try SegmentDecoder(first: CodedSegment(name: "a.m4s", bytes: noise), isStart: true)
    }
    let flag = InterruptFlag()
    flag.raise()
    let segments = try lossless(Scratch())
    #expect(throws: MediaError.interrupted) {
      try SegmentDecoder(first: segments[0], isStart: true, interrupt: flag)
    }
  }
}
