// SPDX-License-Identifier: Apache-2.0

import Media

/// A WAV file. The header is updated after every segment.
final class WaveBody: RecordingBody {
  let segmentSeconds = 0.5
  private(set) var storedFrames: Int64 = 0
  private let format: RecordingFormat
  private let header: WAVHeader

  init(_ format: RecordingFormat) {
    self.format = format
    header = WAVHeader(
      channels: format.channels, sampleRate: format.sampleRate, layout: format.layout,
      encoding: format.codec == .pcm24 ? .pcm24 : .float32)
  }

  func begin(_ output: RecordingOutput) throws(RecordingError) {
    try output.append(header.bytes(frames: 0))
  }

  func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError) {
    try output.append(segment.bytes(format.codec))
    let frames = storedFrames + Int64(segment.frames)
    try output.patch(header.bytes(frames: frames), at: 0)
    storedFrames = frames
  }

  func finish(
    _ output: RecordingOutput, tuning: String, isWhole: Bool
  ) throws(RecordingError) {
    guard !(storedFrames * Int64(format.bytesPerFrame)).isMultiple(of: 2) else { return }
    try output.append([0])
  }
}
