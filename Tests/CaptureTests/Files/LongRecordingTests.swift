// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import System
import TestSupport
import Testing

@testable import Capture

/// Long recordings open quickly and in little memory, and are read to the last frame. Their silence
/// takes no space on the disk.
@Suite(.serialized)
struct LongRecordingTests {
  /// Reads a file in a process of its own.
  private func expectRead(_ path: String, frames: Int, last: Int) throws {
    var slow = ""
    for _ in 0..<3 {
      let run = try ProgramRun.of(
        ProgramRun.builtProducts + "/recording-probe", ["read", path], timeoutSeconds: 120)
      var values: [String: Int] = [:]
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.count == 2 { values[String(words[0])] = Int(words[1]) }
      }
      #expect(values["frames"] == frames, "\(run.output)")
      #expect(values["last"] == last)
      let memory = try #require(values["memory"])
      #expect(memory < 100 << 10, "\(memory) KiB")
      let opened = try #require(values["opened"])
      print("\(path): opened in \(opened) ms, \(memory) KiB")
      if opened < 1000 { return }
      slow = "opened in \(opened) ms"
      recordRetry(slow)
    }
    Issue.record("\(slow)")
  }

  /// Calls `body` with a segment of silence. If `isLast`, the last frame is 0.5 in every channel.
  private func withSegment(
    channels: Int, frames: Int, isLast: Bool, _ body: (RecordingSegment) throws -> Void
  ) rethrows {
    var samples = [Float](repeating: 0, count: channels * frames)
    if isLast { for channel in 1...channels { samples[samples.count - channel] = 0.5 } }
    try samples.withUnsafeBufferPointer {
      try body(RecordingSegment(samples: $0, frames: frames, note: RecordingNote()))
    }
  }

  @Test func aWaveFileBeyond4GiBIsReadToItsEnd() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.wav")
    let format = RecordingFormat(
      layout: .unknown(channels: 16), sampleRate: 384_000, codec: .float)
    let body = WaveBody(format)
    let output = try RecordingOutput(path: path, overwriting: false)
    output.leavesHoles = true
    try body.begin(output)
    let count = 180
    try withSegment(channels: 16, frames: 384_000, isLast: false) { segment in
      for _ in 1..<count { try body.write(segment, to: output) }
    }
    try withSegment(channels: 16, frames: 384_000, isLast: true) { try body.write($0, to: output) }
    #expect(output.size > 1 << 32)
    #expect(try SystemFile.contents(path, limit: 4) == Array("RF64".utf8))
    try body.finish(output, tuning: "{}", isWhole: true)
    output.close()
    try expectRead(path, frames: count * 384_000, last: 1 << 22)
  }

  @Test func aMovieOfAnHourIsReadToItsEnd() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.mov")
    let rate = 48000
    let format = RecordingFormat(layout: .firstOrder, sampleRate: rate)
    let body = try MovieBody(format, path: path)
    let output = try RecordingOutput(path: path, overwriting: false)
    output.leavesHoles = true
    try body.begin(output)
    // Packets of AAC that are encoded once and stored again and again.
    let stereo = try StereoTrack(format)
    let silence = [Float](repeating: 0, count: 4 * rate)
    let packets = try silence.withUnsafeBufferPointer { try stereo.encode($0) }
    let half = rate / 2
    var second = MetadataSecond()
    for part in 0..<7200 {
      var fragment = MovieFragment()
      // Half a second has 23.4375 packets of 1024 frames, so a fragment has 23 or 24.
      let due = (part + 1) * half / 1024 - part * half / 1024
      fragment.packets = (0..<due).map { packets[min($0, packets.count - 1)] }
      withSegment(channels: 4, frames: half, isLast: part == 7199) { segment in
        fragment.sound = segment.bytes(.pcm24)
        fragment.frames = segment.frames
        second.add(segment, at: Int64(part * half), channels: 4)
      }
      if second.frames == rate {
        fragment.metadataStart = second.start
        fragment.metadata = [(second.sample(sampleRate: rate), rate)]
        second = MetadataSecond()
      }
      try body.store(fragment, in: output)
    }
    #expect(body.storedFrames == Int64(3600 * rate))
    try expectRead(path, frames: 3600 * rate, last: 1 << 22)
    try body.finish(output, tuning: #"{"version":1}"#, isWhole: true)
    output.close()
    try expectRead(path, frames: 3600 * rate, last: 1 << 22)
  }
}
