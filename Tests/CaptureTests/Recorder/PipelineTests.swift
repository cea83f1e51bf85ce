// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import TestSupport
import Testing

@testable import Capture

/// What the pipeline of a recording tells its sink and its listeners.
struct PipelineTests {
  /// A sink that keeps the notes of a recording, and counts the calls.
  private final class NoteSink: RecordingSink {
    var notes: [RecordingNote] = []
    var frames = 0
    var ends = 0

    func append(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
      #expect(ends == 0, "frames were appended after the end")
      self.frames += frames
    }
    func annotate(_ note: RecordingNote) { notes.append(note) }
    func finish() { ends += 1 }
  }

  private func pipeline(
    _ sink: NoteSink, microphone: MicrophoneFormat = .ambiX,
    onBlock: @escaping (RecordedBlock) -> Void = { _ in },
    onGap: @escaping (Gap) -> Void = { _ in }
  ) -> RecordingPipeline {
    RecordingPipeline(
      format: RecorderFormat(sampleRate: 8000, layout: .firstOrder), microphone: microphone,
      selection: nil, gain: 1, sink: sink, onBlock: onBlock, onGap: onGap)
  }

  /// The status, the notes and the listeners get their directions from the same measurement.
  @Test func allDirectionsOfARecordingAgree() throws {
    var random = SeededGenerator.forTest()
    let sink = NoteSink()
    var heard = FieldIntensity()
    let pipeline = pipeline(
      sink, onBlock: { if let intensity = $0.intensity { heard += intensity } })
    try pipeline.open(channels: 4, sampleRate: 8000)
    // Azimuth 30 degrees, elevation 0: W, Y, Z and X.
    let gains: [Float] = [1, 0.5, 0, Float(0.75).squareRoot()]
    for _ in 0..<40 {
      let samples = (0..<200).flatMap { _ in
        let sound = Float.random(in: -0.5...0.5, using: &random)
        return gains.map { $0 * sound }
      }
      try pipeline.append(samples, frames: 200)
    }
    #expect(sink.frames == 8000)
    let status = pipeline.takeIntensity()
    #expect(status == heard)
    #expect(pipeline.takeIntensity() == FieldIntensity())
    let direction = try #require(status.direction)
    #expect(abs(direction.azimuth - .pi / 6) < 1e-3)
    #expect(sink.notes.count == 1)
    let note = try #require(sink.notes.first)
    #expect(note.azimuthDegrees == direction.azimuth * 180 / .pi)
    #expect(note.elevationDegrees == direction.elevation * 180 / .pi)
  }

  @Test func silenceAfterTheLimitIsNoGap() throws {
    var gaps: [Gap] = []
    let pipeline = pipeline(NoteSink(), onGap: { gaps.append($0) })
    pipeline.limit = 8000
    try pipeline.open(channels: 4, sampleRate: 8000)
    try pipeline.append([Float](repeating: 0.5, count: 4 * 7000), frames: 7000)
    try pipeline.appendSilence(seconds: 1)
    pipeline.note(.device, seconds: 1)
    try pipeline.appendSilence(seconds: 1)
    pipeline.note(.device, seconds: 1)
    #expect(gaps == [Gap(cause: .device, position: 7000, seconds: 0.125)], "\(gaps)")
  }

  /// The encoder holds frames back only after it has received some.
  @Test(arguments: [0, 10, 1000])
  func aGapOfAnAFormatRecordingStartsAtItsFrame(frames: Int) throws {
    var gaps: [Gap] = []
    let pipeline = pipeline(
      NoteSink(), microphone: .aFormat(TetrahedralMicrophone()), onGap: { gaps.append($0) })
    try pipeline.open(channels: 4, sampleRate: 8000)
    try pipeline.append([Float](repeating: 0.5, count: 4 * frames), frames: frames)
    try pipeline.appendSilence(seconds: 0.5)
    pipeline.note(.device, seconds: 0.5)
    #expect(gaps == [Gap(cause: .device, position: Int64(frames), seconds: 0.5)], "\(gaps)")
  }

  @Test func theSinkIsFinishedOnce() throws {
    let sink = NoteSink()
    let pipeline = pipeline(sink)
    // A conversion holds frames back until the end.
    try pipeline.open(channels: 4, sampleRate: 11_025)
    try pipeline.append([Float](repeating: 0.5, count: 4 * 11_025), frames: 11_025)
    try pipeline.finish()
    let frames = sink.frames
    #expect(abs(frames - 8000) <= 1)
    try pipeline.finish()
    #expect(sink.ends == 1 && sink.frames == frames)
  }
}
