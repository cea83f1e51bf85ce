// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Glibc
import Media
import TestSupport
import Testing

/// A recording whose writer ends early can be read to within 1.1 s of its end.
struct InterruptionTests {
  @Test(arguments: RoundTripTests.cases)
  func aTruncatedFileKeepsItsWholeSegments(_ test: RoundTripTests.Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let rate = 16000
    let format = RecordingFormat(layout: .firstOrder, sampleRate: rate, codec: test.codec)
    let path = folder.file("a.\(test.container.suffix)")
    let file = try RecordingContainer.open(path: path, format: format)
    // The size of the file and its frames after each segment.
    var states: [(size: Int, frames: Int)] = []
    var done = 0
    while done < 6 * rate {
      try record(800, from: done, to: file, random: &random)
      done += 800
      let stored = Int(file.counts.storedFrames)
      if stored > states.last?.frames ?? 0 {
        states.append((try readFile(path).count, stored))
      }
    }
    let bytes = try readFile(path)
    withExtendedLifetime(file) {}
    for _ in 0..<32 {
      let size = Int.random(in: states[0].size...bytes.count, using: &random)
      let cut = try folder.write(Array(bytes[..<size]), to: "cut.\(test.container.suffix)")
      let whole = states.last { $0.size <= size }?.frames ?? 0
      let (_, signal) = try readTrack(cut)
      #expect(equalFrames(signal, format.noise) >= whole, "cut to \(size) of \(bytes.count)")
    }
  }

  /// What a killed writer loses, apart from the time that the sound needs to reach the file.
  @Test(arguments: RoundTripTests.cases)
  func atMostHalfASecondIsInMemory(_ test: RoundTripTests.Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let rate = 16000
    let format = RecordingFormat(layout: .firstOrder, sampleRate: rate, codec: test.codec)
    let path = folder.file("a.\(test.container.suffix)")
    let file = try RecordingContainer.open(path: path, format: format)
    // A file without sound can be opened, too.
    #expect(try readTrack(path).1[0].count == 0)
    // A FLAC frame of 4608 samples may be in memory as well.
    let most = test.container == .flac ? rate / 2 + 4608 : rate / 2
    for done in stride(from: 0, to: 3 * rate, by: 800) {
      try record(800, from: done, to: file, random: &random)
      #expect(done + 800 - Int(file.counts.storedFrames) < most + 800)
    }
    let (_, signal) = try readTrack(path)
    #expect(equalFrames(signal, format.noise) == Int(file.counts.storedFrames))
  }

  /// At many of these places, libavformat rejects a file that ends there.
  @Test func aMovieThatEndsWithinAFragmentHeaderKeepsTheFragmentsBefore() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let format = RecordingFormat(layout: .firstOrder, sampleRate: 8000)
    let path = folder.file("a.mov")
    let file = try RecordingContainer.open(path: path, format: format)
    try record(24000, to: file, random: &random)
    let bytes = try readFile(path)
    withExtendedLifetime(file) {}
    let header = try #require(MovieFile(bytes).top.last { $0.type == "moof" })
    for size in header.start - 8...header.end + 8 {
      let cut = try folder.write(Array(bytes[..<size]), to: "cut.mov")
      let (track, signal) = try readTrack(cut)
      #expect(track.layout == .firstOrder)
      #expect(equalFrames(signal, format.noise) == 20000, "cut to \(size)")
    }
  }

  /// A finished file that is cut anywhere in its second half plays almost to the cut.
  @Test func aTruncatedFinishedWaveFilePlays() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let format = RecordingFormat(layout: .firstOrder, sampleRate: 16000)
    for suffix in ["wav", "flac", "mka"] {
      let path = folder.file("a." + suffix)
      try record(80000, path: path, format: format, random: &random)
      let bytes = try readFile(path)
      for _ in 0..<8 {
        let size = Int.random(in: bytes.count / 2...bytes.count, using: &random)
        let cut = try folder.write(Array(bytes[..<size]), to: "cut." + suffix)
        let (_, signal) = try readTrack(cut)
        #expect(Double(equalFrames(signal, format.noise)) >= 0.9 * Double(size) / 12 - 8000)
      }
    }
  }

  /// Kills a writer at 20 random times. The writer runs at ten times real time.
  @Test(arguments: RoundTripTests.cases)
  func aKilledWriterLosesAtMost1100Milliseconds(_ test: RoundTripTests.Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let rate = 48000
    let codec = test.codec == .pcm24 ? "pcm24" : "float"
    let noise = RecordedNoise(channels: 4, isInteger: test.codec == .pcm24)
    for attempt in 0..<20 {
      let path = folder.file("\(attempt).\(test.container.suffix)")
      let probe = try RunningProgram([
        ProgramRun.builtProducts + "/recording-probe", "write", path, codec, "foa", "\(rate)",
        "100", "10",
      ])
      // The file is there, with its name, from the first block on.
      _ = try probe.line(with: "frames ")
      let tenths = Int.random(in: 0...60, using: &random)
      _ = try probe.line(with: "frames \((20 + tenths) * rate / 20)")
      usleep(UInt32.random(in: 0...5000, using: &random))
      kill(probe.pid, SIGKILL)
      probe.wait()
      let appended = try #require(
        probe.lines.compactMap { line in
          line.text.hasPrefix("frames ") ? Int(line.text.dropFirst(7)) : nil
        }.max())
      let (track, signal) = try readTrack(path)
      let exact = equalFrames(signal, noise)
      #expect(exact >= appended - rate * 11 / 10, "after \(appended) frames: \(exact)")
      #expect(track.channels == 4)
    }
  }
}
