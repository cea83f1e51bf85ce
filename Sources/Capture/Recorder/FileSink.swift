// SPDX-License-Identifier: Apache-2.0

/// A file as the destination of a recorder.
public final class FileSink: RecordingSink {
  private let file: any RecordingFile
  /// The block in the form that the file takes: frames x channels, interleaved.
  private var interleaved: [Float] = []

  public init(_ file: any RecordingFile) { self.file = file }

  public func append(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws {
    let channels = file.format.channels
    if interleaved.count < frames * channels {
      interleaved = [Float](repeating: 0, count: frames * channels)
    }
    for channel in 0..<channels {
      let plane = planes[channel]
      for frame in 0..<frames { interleaved[frame * channels + channel] = plane[frame] }
    }
    try interleaved.withUnsafeBufferPointer { block throws(RecordingError) in
      try file.append(UnsafeBufferPointer(rebasing: block[..<(frames * channels)]))
    }
  }

  public func annotate(_ note: RecordingNote) { file.note = note }

  public var secondsLeft: Double? { file.secondsLeft }

  public func flush() throws { try file.flush() }

  public func finish() throws { try file.finish() }
}
