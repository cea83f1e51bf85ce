// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandSupport
import Glibc
import Media

/// Creates the file of a recording.
enum RecordingFile {
  /// The endings of names that `record` accepts.
  static let endings = ["mov", "qta", "wav", "flac", "mka"]

  /// Returns the part of a name after its last dot, in lower case; nil if there is none.
  static func ending(_ path: String) -> String? {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    return name[name.index(after: dot)...].lowercased()
  }

  /// Creates the file and returns a sink that writes to it.
  static func make(_ path: String, _ format: RecordingFormat) throws -> any RecordingSink {
    guard ending(path) == "wav" else {
      throw CommandFailure("cannot write '\(path)': choose a name that ends in .wav")
    }
    return WAVSink(
      try WAVWriter(path: path, layout: format.layout, sampleRate: format.sampleRate))
  }
}

/// A float32 WAV file as the sink of a recording.
private final class WAVSink: RecordingSink {
  private let writer: WAVWriter

  init(_ writer: WAVWriter) { self.writer = writer }

  func append(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) throws {
    try writer.write(planar: planes, frames: frames)
  }

  func finish() throws { try writer.close() }
}
