// SPDX-License-Identifier: Apache-2.0

import Media
import Testing

@Suite struct SeekTests {
  private struct Case {
    let name: String
    let arguments: [String]
    var channels = 2
    var rate: Int?
    /// The permitted residual, in dB; nil requires bit-identical frames.
    var toleranceDecibels: Double?
  }

  private static let frames = 4 * 48000

  @Test func readingAfterASeekMatchesALinearRead() throws {
    let cases = [
      Case(name: "a.wav", arguments: ["-c:a", "pcm_s24le"]),
      Case(name: "a.flac", arguments: ["-c:a", "flac", "-sample_fmt", "s32"]),
      Case(name: "alac.m4a", arguments: ["-c:a", "alac", "-sample_fmt", "s32p"]),
      Case(name: "a.caf", arguments: ["-c:a", "alac", "-sample_fmt", "s32p"]),
      Case(name: "a.mkv", arguments: ["-c:a", "flac", "-sample_fmt", "s32"]),
      Case(name: "flac44.flac", arguments: ["-c:a", "flac", "-ar", "44100"], rate: 48000),
      Case(name: "odd.wav", arguments: ["-c:a", "pcm_s24le"], rate: 44101),
      Case(
        name: "a.opus", arguments: ["-c:a", "libopus", "-b:a", "128k"], toleranceDecibels: -60),
      Case(
        name: "aac.m4a", arguments: ["-c:a", "aac", "-aac_pns", "0", "-b:a", "192k"],
        toleranceDecibels: -60),
      Case(
        name: "a.mp3", arguments: ["-c:a", "libmp3lame", "-b:a", "192k"], toleranceDecibels: -60),
      Case(name: "a.ogg", arguments: ["-c:a", "libvorbis", "-q:a", "5"], toleranceDecibels: -60),
      // AC-3 decoders fill bands without bits with dither, which differs every time.
      Case(name: "a.ac3", arguments: ["-c:a", "ac3", "-b:a", "384k"], toleranceDecibels: -35),
      Case(
        name: "a.aac", arguments: ["-c:a", "aac", "-aac_pns", "0", "-b:a", "192k"],
        toleranceDecibels: -60),
      Case(name: "opus.mkv", arguments: ["-c:a", "libopus"], toleranceDecibels: -60),
    ]
    let scratch = Scratch()
    let source = zip(
      noise(channels: 2, frames: Self.frames, peak: 0.1),
      tones(channels: 2, rate: 48000, frames: Self.frames)
    ).map { zip($0, $1).map { ($0 + $1) } }
    scratch.write(RawWAV(signal: source).bytes, to: "in.wav")
    try scratch.ffmpeg(["-i", "@in.wav"] + cases.flatMap { $0.arguments + ["@" + $0.name] })
    for item in cases { try check(item, in: scratch) }
  }

  private func check(_ item: Case, in scratch: Scratch) throws {
    let path = scratch / item.name
    let linear = try readAll(AudioFileReader(path: path, sampleRate: item.rate), step: 9973)
    let reader = try AudioFileReader(path: path, sampleRate: item.rate)
    let total = linear[0].count
    for target in [total - 3000, 5, total / 2, total / 2 + 7000, total - 1, 100_001, 0] {
      try reader.seek(toFrame: target)
      #expect(reader.position == target)
      let piece = try read(reader, frames: 2500)
      let expected = linear.map { $0.dropFirst(target).prefix(2500) }
      #expect(piece[0].count == expected[0].count, "\(item.name) at \(target)")
      for channel in 0..<2 {
        if let tolerance = item.toleranceDecibels {
          guard target < total - 1 else { continue }
          let residual = residualDecibels(piece[channel][...], expected[channel])
          #expect(residual < tolerance, "\(item.name) at \(target): \(residual) dB")
        } else {
          #expect(piece[channel][...] == expected[channel], "\(item.name) at \(target)")
        }
      }
    }
    #expect(reader.warnings.isEmpty, "\(item.name): \(reader.warnings)")
  }

  @Test func seekBeyondTheEndReadsNothingAndIsReversible() throws {
    let scratch = Scratch()
    let signal = noise(channels: 1, frames: 5000)
    let path = scratch.write(RawWAV(signal: signal).bytes, to: "a.wav")
    let reader = try AudioFileReader(path: path)
    try reader.seek(toFrame: 1_000_000)
    #expect(reader.position == 5000)
    #expect(try read(reader, frames: 10)[0].isEmpty)
    try reader.seek(toFrame: -5)
    #expect(try readAll(reader) == signal)
  }
}
