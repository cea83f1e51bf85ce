// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Media
import TestSupport
import Testing

extension ChannelLayout {
  static let firstOrder = ChannelLayout.ambisonics(
    order: 1, convention: .ambiX, headLocked: false)
}

extension RecordingContainer {
  var suffix: String {
    switch self {
    case .movie: "mov"
    case .wave: "wav"
    case .flac: "flac"
    case .matroska: "mka"
    }
  }
}

extension RecordingFormat {
  var noise: RecordedNoise { RecordedNoise(channels: channels, isInteger: codec == .pcm24) }
}

/// Appends `frames` frames of noise in blocks of random length.
func record(
  _ frames: Int, from start: Int = 0, to file: any RecordingFile,
  random: inout SeededGenerator
) throws {
  var done = 0
  while done < frames {
    let count = min(frames - done, Int.random(in: 1...3000, using: &random))
    try file.append(file.format.noise.interleaved(from: start + done, frames: count))
    done += count
  }
}

/// Writes a whole recording of noise and returns its counts.
@discardableResult
func record(
  _ frames: Int, path: String, format: RecordingFormat, random: inout SeededGenerator
) throws -> RecordingCounts {
  let file = try RecordingContainer.open(path: path, format: format)
  try record(frames, to: file, random: &random)
  try file.finish()
  return file.counts
}

/// Reads a track to its end and returns channels x frames.
func readTrack(_ path: String, track: Int? = nil) throws -> (AudioTrack, [[Float]]) {
  let reader = try AudioFileReader(path: path, track: track)
  let block = PlanarSignal(channelCount: reader.channels, frames: 8192)
  var result = [[Float]](repeating: [], count: reader.channels)
  while true {
    let count = try reader.read(into: block.channels, frames: block.frames)
    guard count > 0 else { return (reader.track, result) }
    for channel in result.indices {
      result[channel] += UnsafeBufferPointer(start: block[channel], count: count)
    }
  }
}

/// Returns the number of leading frames that equal the noise bit for bit.
func equalFrames(_ signal: [[Float]], _ noise: RecordedNoise) -> Int {
  guard signal.count == noise.channels, let frames = signal.first?.count else { return 0 }
  return (0..<frames).first { frame in
    signal.indices.contains {
      signal[$0][frame].bitPattern != noise.sample(frame: frame, channel: $0).bitPattern
    }
  } ?? frames
}
