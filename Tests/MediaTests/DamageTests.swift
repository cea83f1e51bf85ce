// SPDX-License-Identifier: Apache-2.0

import Media
import Testing

@Suite struct DamageTests {
  private static let frames = 96000

  private struct Case {
    let name: String
    let arguments: [String]
    /// Whether the format allows damage to be detected.
    var isDetected = true
    var tolerance = 0
    /// Whether the format preserves the timing. A bare stream of frames of varying size does not
    /// show how many were lost.
    var keepsTime = true
  }

  @Test func corruptPacketsBecomeSilenceOfTheSameLength() throws {
    // A damaged Ogg page is lost completely, so use small pages.
    let smallPages = ["-page_duration", "100000"]
    let cases = [
      Case(name: "a.flac", arguments: ["-c:a", "flac"]),
      Case(name: "flac.ogg", arguments: ["-c:a", "flac"] + smallPages),
      Case(name: "flac.mka", arguments: ["-c:a", "flac"]),
      Case(name: "a.ac3", arguments: ["-c:a", "ac3", "-b:a", "192k"]),
      Case(name: "a.eac3", arguments: ["-c:a", "eac3", "-b:a", "192k"]),
      Case(name: "a.opus", arguments: ["-c:a", "libopus"] + smallPages),
      Case(name: "a.ogg", arguments: ["-c:a", "libvorbis"] + smallPages, tolerance: 256),
      Case(name: "aac.m4a", arguments: ["-c:a", "aac"], isDetected: false),
      Case(
        name: "aac.aac", arguments: ["-c:a", "aac"], isDetected: false, tolerance: 4096,
        keepsTime: false),
      Case(
        name: "a.mp3", arguments: ["-c:a", "libmp3lame"], isDetected: false, tolerance: 2304,
        keepsTime: false),
      Case(
        name: "alac.m4a", arguments: ["-c:a", "alac", "-sample_fmt", "s16p"], isDetected: false),
    ]
    let scratch = Scratch()
    scratch.write(
      RawWAV(signal: tones(channels: 2, rate: 48000, frames: Self.frames)).bytes, to: "in.wav")
    try scratch.ffmpeg(
      ["-i", "@in.wav"] + cases.flatMap { $0.arguments + ["-ar", "48000", "@" + $0.name] })
    for item in cases { try check(item, in: scratch) }
  }

  private func check(_ item: Case, in scratch: Scratch) throws {
    let clean = try readAll(AudioFileReader(path: scratch / item.name))
    var bytes = scratch.bytes(of: item.name)
    let middle = bytes.count / 2
    for offset in stride(from: middle, to: middle + 600, by: 7) { bytes[offset] ^= 0x5A }
    let path = scratch.write(bytes, to: "bad-" + item.name)
    var reported: [MediaWarning.Kind] = []
    let reader = try AudioFileReader(path: path, onWarning: { reported.append($0.kind) })
    let decoded = try readAll(reader)
    let difference = abs(decoded[0].count - clean[0].count)
    #expect(difference <= item.tolerance, "\(item.name): \(difference) frames off")
    #expect(decoded.joined().allSatisfy { abs($0) < 8 }, "\(item.name): a burst")
    if item.isDetected {
      #expect(!reader.warnings.isEmpty, "\(item.name)")
      #expect(Set(reported).count == reported.count)
      for warning in reader.warnings { #expect((0.3...1.7).contains(warning.seconds)) }
    }
    guard item.keepsTime else { return }
    // The last quarter must be at its original time.
    let tail = clean[0].count * 3 / 4
    let residual = residualDecibels(
      decoded[0].dropFirst(tail).prefix(16000), clean[0].dropFirst(tail).prefix(16000))
    #expect(residual < -30, "\(item.name): \(residual) dB")
  }

  @Test func lostFLACFrameBecomesSilenceOfItsLength() throws {
    let scratch = Scratch()
    let signal = noise(channels: 2, frames: 40960, bits: 16)
    scratch.write(RawWAV(signal: signal, samples: .int16).bytes, to: "in.wav")
    try scratch.ffmpeg(["-i", "@in.wav", "-c:a", "flac", "-frame_size", "4096", "@a.flac"])
    var bytes = scratch.bytes(of: "a.flac")
    bytes[bytes.count / 2] ^= 0xFF
    let reader = try AudioFileReader(path: scratch.write(bytes, to: "bad.flac"))
    let decoded = try readAll(reader)
    #expect(decoded[0].count == 40960)
    let silent = (0..<10).filter { frame in
      decoded[0][(frame * 4096)..<(frame * 4096 + 4096)].allSatisfy { $0 == 0 }
    }
    #expect(silent.count == 1)
    let gap = (silent.first ?? 0) * 4096
    for channel in 0..<2 {
      // The first frames after the gap are faded in.
      for range in [0..<gap, (gap + 4096 + 32)..<40960] {
        #expect(decoded[channel][range] == signal[channel][range])
      }
    }
    #expect(
      reader.warnings.map(\.description)
        == ["1 damaged place near \(gap > 20000 ? "0.4" : "0.3") s was replaced by silence"])
  }

  @Test(arguments: [
    Float.nan, .infinity, -.infinity, 1e30, -1e30, 1e7, .signalingNaN, .greatestFiniteMagnitude,
  ])
  func invalidSamplesAreMutedWithoutABurst(value: Float) throws {
    let scratch = Scratch()
    var signal = tones(channels: 4, rate: 48000, frames: 20000)
    for frame in [0, 7777, 7778, 12000, 19999] { signal[2][frame] = value }
    let path = scratch.write(RawWAV(signal: signal).bytes, to: "a.wav")
    for rate in [48000, 44100] {
      let reader = try AudioFileReader(path: path, sampleRate: rate)
      let decoded = try readAll(reader)
      #expect(decoded[0].count == (20000 * rate + 47999) / 48000)
      #expect(decoded.joined().allSatisfy { abs($0) < 0.3 })
      #expect(reader.warnings.map(\.kind) == [.invalidSamples])
      #expect(reader.warnings.first?.count == 5)
      if rate == 48000 {
        #expect(decoded[0][7777] == 0 && decoded[2][7778] == 0)
        #expect(decoded[1][100..<7700] == signal[1][100..<7700])
      }
    }
  }

  @Test func fileOfNaNSamplesDecodesToSilence() throws {
    let scratch = Scratch()
    let signal = Planar(repeating: [Float](repeating: .nan, count: 5000), count: 4)
    let reader = try AudioFileReader(path: scratch.write(RawWAV(signal: signal).bytes, to: "a.wav"))
    #expect(try readAll(reader).joined().allSatisfy { $0 == 0 })
    #expect(reader.warnings.first?.count == 20000)
  }

  @Test func loudFiniteSamplesAreKept() throws {
    let scratch = Scratch()
    let signal = [sine(100, rate: 48000, frames: 1000, amplitude: 900)]
    let path = scratch.write(RawWAV(signal: signal).bytes, to: "a.wav")
    #expect(try readAll(AudioFileReader(path: path)) == signal)
  }

  @Test func truncatedFilesPlayToTheTruncation() throws {
    let scratch = Scratch()
    let signal = noise(channels: 2, frames: Self.frames, bits: 16)
    scratch.write(RawWAV(signal: signal, samples: .int16).bytes, to: "a.wav")
    try scratch.ffmpeg([
      "-i", "@a.wav", "-c:a", "flac", "@a.flac", "-c:a", "alac", "-movflags", "+faststart",
      "@a.m4a", "-c:a", "pcm_s16be", "@a.aiff", "-c:a", "pcm_s16be", "@a.caf",
    ])
    for name in ["a.wav", "a.flac", "a.m4a", "a.aiff", "a.caf"] {
      let bytes = scratch.bytes(of: name)
      let path = scratch.write(Array(bytes[..<(bytes.count * 2 / 3 + 1)]), to: "cut-" + name)
      let reader = try AudioFileReader(path: path)
      let decoded = try readAll(reader)
      #expect((55000...72000).contains(decoded[0].count), "\(name): \(decoded[0].count)")
      let intact = 55000
      for channel in 0..<2 {
        #expect(decoded[channel][..<intact] == signal[channel][..<intact], "\(name)")
      }
      #expect(
        reader.warnings.contains { $0.kind == .truncated }, "\(name): \(reader.warnings)")
    }
  }

  @Test func filesWithUnfinishedHeadersPlayToTheEnd() throws {
    let scratch = Scratch()
    let signal = noise(channels: 4, frames: 3000)
    for stated in [0, 0xFFFF_FFFF - 100] {
      var wave = RawWAV(signal: signal)
      wave.statedDataBytes = stated
      let reader = try AudioFileReader(path: scratch.write(wave.bytes, to: "a.wav"))
      #expect(try readAll(reader) == signal, "data length \(stated)")
    }
  }

  @Test func filesWithZeroOrOneFrameAreRead() throws {
    let scratch = Scratch()
    for frames in [0, 1] {
      let signal = noise(channels: 4, frames: frames)
      let path = scratch.write(RawWAV(signal: signal).bytes, to: "a.wav")
      let reader = try AudioFileReader(path: path)
      #expect(try readAll(reader) == signal)
      try reader.seek(toFrame: 0)
      #expect(try readAll(reader) == signal)
    }
  }

  @Test func laterChannelsAreMixedToTheFirstLayout() throws {
    let scratch = Scratch()
    scratch.write(RawWAV(signal: tones(channels: 2, rate: 48000, frames: 30720)).bytes, to: "2.wav")
    scratch.write(RawWAV(signal: tones(channels: 1, rate: 48000, frames: 30720)).bytes, to: "1.wav")
    try scratch.ffmpeg(["-i", "@2.wav", "-c:a", "ac3", "@2.ac3"])
    try scratch.ffmpeg(["-i", "@1.wav", "-c:a", "ac3", "@1.ac3"])
    let path = scratch.write(scratch.bytes(of: "2.ac3") + scratch.bytes(of: "1.ac3"), to: "a.ac3")
    let reader = try AudioFileReader(path: path)
    let decoded = try readAll(reader)
    try #require(reader.channels == 2 && decoded[0].count >= 61440)
    #expect(reader.warnings.map(\.kind) == [.channelChange])
    let residual = residualDecibels(decoded[1][40000..<50000], decoded[0][40000..<50000])
    #expect(residual < -60)
    #expect(decoded[0][40000..<50000].contains { abs($0) > 0.1 })
  }

  @Test func laterSampleRatesAreResampledToTheFirst() throws {
    let scratch = Scratch()
    for rate in [48000, 44100] {
      scratch.write(
        RawWAV(signal: [sine(997, rate: rate, frames: rate)], rate: rate).bytes, to: "\(rate).wav")
      try scratch.ffmpeg(["-i", "@\(rate).wav", "-c:a", "ac3", "@\(rate).ac3"])
    }
    let path = scratch.write(
      scratch.bytes(of: "48000.ac3") + scratch.bytes(of: "44100.ac3"), to: "a.ac3")
    let reader = try AudioFileReader(path: path)
    let decoded = try readAll(reader)
    #expect(reader.warnings.map(\.kind) == [.sampleRateChange])
    #expect(abs(decoded[0].count - 96000) < 4000)
    let crossings = (70000..<80000).count { decoded[0][$0] < 0 && decoded[0][$0 + 1] >= 0 }
    #expect(abs(crossings - 10000 * 997 / 48000) <= 1)
    try reader.seek(toFrame: 72000)
    let piece = try read(reader, frames: 2000)[0]
    #expect(residualDecibels(piece[...], decoded[0][72000..<74000]) < -35)
  }
}
