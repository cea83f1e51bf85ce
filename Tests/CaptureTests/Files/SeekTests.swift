// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Media
import TestSupport
import Testing

/// Recordings can be played from any position, while they grow and when they are complete.
struct SeekTests {
  @Test(arguments: RoundTripTests.cases)
  func everyPositionIsReached(_ test: RoundTripTests.Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let format = RecordingFormat(layout: .firstOrder, sampleRate: 16000, codec: test.codec)
    let path = folder.file("a.\(test.container.suffix)")
    let file = try RecordingContainer.open(path: path, format: format)
    try record(150_000, to: file, random: &random)
    for isFinished in [false, true] {
      if isFinished { try file.finish() }
      let stored = Int(file.counts.storedFrames)
      let reader = try AudioFileReader(path: path)
      if let duration = reader.duration {
        #expect((0...800).contains(stored - duration), "\(duration) of \(stored)")
      }
      let block = PlanarSignal(channelCount: 4, frames: 2000)
      for _ in 0..<20 {
        let position = Int.random(in: 0..<stored - block.frames, using: &random)
        try reader.seek(toFrame: position)
        #expect(try reader.read(into: block.channels, frames: block.frames) == block.frames)
        let wrong = (0..<block.frames).first { frame in
          (0..<4).contains {
            block[$0][frame] != format.noise.sample(frame: position + frame, channel: $0)
          }
        }
        #expect(wrong == nil, "at \(position) of \(stored), finished: \(isFinished)")
      }
    }
  }

  /// In the stereo track too, the sound after a seek equals that of a read from the start.
  @Test func everyPositionOfTheStereoTrackIsReached() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let format = RecordingFormat(layout: .firstOrder, sampleRate: 48000)
    let path = folder.file("a.mov")
    let file = try RecordingContainer.open(path: path, format: format)
    try record(300_000, to: file, random: &random)
    for isFinished in [false, true] {
      if isFinished { try file.finish() }
      let (_, whole) = try readTrack(path, track: 1)
      let reader = try AudioFileReader(path: path, track: 1)
      let block = PlanarSignal(channelCount: 2, frames: 2000)
      for _ in 0..<20 {
        let position = Int.random(in: 0..<whole[0].count - block.frames, using: &random)
        try reader.seek(toFrame: position)
        #expect(try reader.read(into: block.channels, frames: block.frames) == block.frames)
        let difference = (0..<block.frames).map {
          abs(block[0][$0] - whole[0][position + $0])
        }.max()
        #expect(difference ?? 1 < 1e-4, "at \(position), finished: \(isFinished)")
      }
    }
  }
}
