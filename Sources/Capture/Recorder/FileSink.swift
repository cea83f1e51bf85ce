// SPDX-License-Identifier: Apache-2.0

import AudioMix

/// Writes a recording to a file, with a tuning for the Audio Mix if the file can store one.
public final class FileSink: RecordingSink {
  private let file: any RecordingFile
  /// Computes the tuning; nil if the file cannot store one.
  private let generator: MixTuningGenerator?
  /// A buffer for the samples of one block, frames x channels.
  private var interleaved: [Float] = []

  public init(_ file: any RecordingFile) {
    self.file = file
    generator =
      file.storesTuning ? MixTuningGenerator(sampleRate: Double(file.format.sampleRate)) : nil
  }

  public func append(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws {
    generator?.append(planes, frames: frames)
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

  public func finish() throws {
    if let generator { file.tuning = generator.tuning.json }
    try file.finish()
  }
}
