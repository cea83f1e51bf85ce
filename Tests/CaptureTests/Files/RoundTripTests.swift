// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Media
import TestSupport
import Testing

/// What is recorded is read back bit for bit.
struct RoundTripTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var container: RecordingContainer
    var codec: RecordingFormat.Codec
    var testDescription: String { "\(container) \(codec)" }
  }

  static let cases = RecordingContainer.allCases.flatMap { container in
    [RecordingFormat.Codec.pcm24, .float].map { Case(container: container, codec: $0) }
  }.filter { $0.container != .flac || $0.codec == .pcm24 }

  @Test(arguments: cases)
  func everyChannelCountIsExact(_ test: Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    for channels in 1...(test.container == .flac ? 8 : 16) {
      let format = RecordingFormat(
        layout: channels == 1 ? .mono : channels == 2 ? .stereo : .unknown(channels: channels),
        sampleRate: 8000, codec: test.codec)
      let frames = Int.random(in: 1...20000, using: &random)
      let path = folder.file("\(channels).\(test.container.suffix)")
      let counts = try record(frames, path: path, format: format, random: &random)
      #expect(counts.frames == Int64(frames))
      #expect(counts.storedFrames == Int64(frames))
      #expect(counts.invalidSamples == 0 && counts.clippedSamples == 0)
      let (track, signal) = try readTrack(path)
      #expect(track.layout == format.layout, "\(channels) channels")
      #expect(signal[0].count == frames, "\(channels) channels")
      #expect(equalFrames(signal, format.noise) == frames, "\(channels) channels")
    }
  }

  @Test(arguments: cases)
  func firstOrderSoundIsExactAtAllRates(_ test: Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    for rate in [8000, 11025, 44100, 48000, 88200, 96000] {
      let format = RecordingFormat(layout: .firstOrder, sampleRate: rate, codec: test.codec)
      let frames = Int.random(in: rate...2 * rate, using: &random)
      let path = folder.file("\(rate).\(test.container.suffix)")
      try record(frames, path: path, format: format, random: &random)
      let (track, signal) = try readTrack(path)
      #expect(track.sampleRate == rate)
      #expect(equalFrames(signal, format.noise) == frames, "\(rate) Hz")
      #expect(signal[0].count == frames, "\(rate) Hz")
      let expected: ChannelLayout =
        test.container == .movie ? .firstOrder : .unknown(channels: 4)
      #expect(track.layout == expected)
    }
  }

  @Test func layoutsKeepTheirLabels() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let surround: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
    ]
    let layouts: [ChannelLayout] = [
      .speakers(surround), .ambisonics(order: 2, convention: .ambiX, headLocked: false),
      .ambisonics(order: 1, convention: .fuMa, headLocked: false),
      .ambisonics(order: 3, convention: .n3d, headLocked: false), .unknown(channels: 4),
    ]
    for (index, layout) in layouts.enumerated() {
      let path = folder.file("\(index).mov")
      let format = RecordingFormat(layout: layout, sampleRate: 48000)
      try record(1000, path: path, format: format, random: &random)
      #expect(try readTrack(path).0.layout == layout)
    }
    for suffix in ["wav", "flac"] {
      let path = folder.file("surround.\(suffix)")
      let format = RecordingFormat(layout: .speakers(surround), sampleRate: 48000)
      try record(1000, path: path, format: format, random: &random)
      #expect(try readTrack(path).0.layout == format.layout)
    }
  }

  @Test(arguments: RecordingContainer.allCases)
  func aRecordingWithoutSoundCanBeFinished(_ container: RecordingContainer) throws {
    let folder = TemporaryFolder()
    let file = try RecordingContainer.open(
      path: folder.file("a.\(container.suffix)"),
      format: RecordingFormat(layout: .firstOrder, sampleRate: 48000))
    try file.finish()
    #expect(file.counts == RecordingCounts())
  }

  /// A pause writes what is pending, at any length, and the sound goes on without a gap.
  @Test(arguments: cases)
  func flushesLeaveNoGap(_ test: Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let format = RecordingFormat(layout: .firstOrder, sampleRate: 16000, codec: test.codec)
    let path = folder.file("a.\(test.container.suffix)")
    let file = try RecordingContainer.open(path: path, format: format)
    var done = 0
    for _ in 0..<30 {
      let frames = Int.random(in: 1...4000, using: &random)
      try record(frames, from: done, to: file, random: &random)
      done += frames
      try file.flush()
      let (_, signal) = try readTrack(path)
      let slack = test.container == .flac ? 2304 : 0
      #expect(equalFrames(signal, format.noise) >= done - slack)
      #expect(file.counts.storedFrames >= Int64(done - slack))
    }
    try file.finish()
    let (_, signal) = try readTrack(path)
    #expect(equalFrames(signal, format.noise) == done)
    #expect(signal[0].count == done)
  }
}
