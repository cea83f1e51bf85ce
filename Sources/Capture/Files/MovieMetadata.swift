// SPDX-License-Identifier: Apache-2.0

/// The peaks, the direction of arrival and the number of lost frames in a part of a movie. Each
/// part except the last lasts at least one second.
struct MetadataSecond {
  private(set) var start: Int64 = 0
  private(set) var frames = 0
  private var peaks: [Float] = []
  private var note = RecordingNote()

  /// Adds the segment that starts at the given frame of the movie.
  mutating func add(_ segment: RecordingSegment, at frame: Int64, channels: Int) {
    if frames == 0 {
      start = frame
      peaks = Array(repeating: 0, count: channels)
    }
    frames += segment.frames
    for channel in 0..<channels {
      for index in stride(from: channel, to: segment.samples.count, by: channels) {
        peaks[channel] = max(peaks[channel], abs(segment.samples[index]))
      }
    }
    note.azimuthDegrees = segment.note.azimuthDegrees ?? note.azimuthDegrees
    note.elevationDegrees = segment.note.elevationDegrees ?? note.elevationDegrees
    note.lostFrames += segment.note.lostFrames
  }

  /// Returns a metadata sample with a JSON object. It contains the time from the start of the movie
  /// to the start of the part, in whole seconds; the peak of each channel in dBFS, at least -200;
  /// the latest known direction of arrival in degrees, if any; and the number of lost frames.
  func sample(sampleRate: Int) -> [UInt8] {
    let levels = peaks.map { Self.tenths(max(-200, Decibels.of($0))) }
    var members = [
      #""second":\#(start / Int64(sampleRate))"#, #""peak":[\#(levels.joined(separator: ","))]"#,
    ]
    if let azimuth = note.azimuthDegrees { members.append(#""azimuth":\#(Self.tenths(azimuth))"#) }
    if let elevation = note.elevationDegrees {
      members.append(#""elevation":\#(Self.tenths(elevation))"#)
    }
    members.append(#""lost":\#(note.lostFrames)"#)
    return MetadataSample.bytes("{" + members.joined(separator: ",") + "}")
  }

  /// Returns a number with one decimal place; 0.0 if it is not finite or its magnitude is 1e9 or
  /// more.
  private static func tenths(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "0.0" }
    return String((value * 10).rounded() / 10)
  }
}

/// Encodes JSON objects as samples of the metadata track.
enum MetadataSample {
  /// Returns a sample that consists of its length, the local identifier of the key, and the value.
  static func bytes(_ json: String) -> [UInt8] {
    BoxBytes.of { $0.box("\0\0\0\u{1}") { $0.put(json) } }
  }
}
