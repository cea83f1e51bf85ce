// SPDX-License-Identifier: Apache-2.0

/// The file of a recording while it grows.
///
/// The file has its final name from the start, and it can be read at any time: if the program is
/// killed, at most about the last second is missing. Blocks are interleaved, because sound servers
/// deliver them that way and PCM containers store them that way.
///
/// Samples that are not finite become silence. For `pcm24`, a sample becomes the nearest multiple
/// of 2^-23 in the range from -1 to 1 - 2^-23. `counts` has the number of samples that were not
/// finite, and the number of samples outside that range.
///
/// ## Errors
/// The first error ends the recording: the file keeps the segments before the error, and every
/// later `append` and `flush` throws the same error. `finish` still closes the file.
///
/// ## Threading
/// Use a file from one thread at a time; the thread may change between calls. The calls write to
/// the disk, so they may block. A file that is released without `finish` is left as after a crash,
/// except that a replaced file gets its name back if no sound has been written.
public protocol RecordingFile: AnyObject, Sendable {
  var format: RecordingFormat { get }
  var counts: RecordingCounts { get }
  /// Facts about the segment that is being recorded. They are cleared when the segment has been
  /// written. Only a movie with a first-order soundfield stores them.
  var note: RecordingNote { get set }
  /// The parameters of the Audio Mix, as a JSON object. Only a movie with a first-order soundfield
  /// can store them, as its last metadata sample.
  var tuning: String { get set }
  /// Whether the file can store `tuning`.
  var storesTuning: Bool { get }
  /// The number of bytes per second of sound, averaged over the whole file or over its latest part,
  /// whichever is larger. Before the first segment, it is the number for uncompressed sound.
  var bytesPerSecond: Double { get }
  /// The number of bytes that are free for this user on the disk of the file; nil if unknown or
  /// after `finish`.
  var freeBytes: Int64? { get }

  /// Appends a block.
  ///
  /// - Parameter samples: frames x channels, full scale 1. The count must be a multiple of the
  ///   number of channels.
  /// - Throws: `RecordingError.diskFull`, `.fileTooLarge`, `.writeFailed` or `.encodingFailed`.
  func append(_ samples: UnsafeBufferPointer<Float>) throws(RecordingError)

  /// Writes the frames that are still in memory, for instance at a pause. Even then, FLAC keeps up
  /// to one FLAC frame (about 0.1 s) in memory, and the stereo track of a movie up to 2048 frames.
  ///
  /// - Throws: the errors of `append`.
  func flush() throws(RecordingError)

  /// Writes the rest, completes the file and closes it. Further calls of `finish` do nothing.
  ///
  /// - Throws: the errors of `append`, unless one has been thrown before. The file is
  ///   closed and can be read in any case.
  func finish() throws(RecordingError)
}

extension RecordingFile {
  /// Appends a block, frames x channels.
  public func append(_ samples: [Float]) throws(RecordingError) {
    try samples.withUnsafeBufferPointer { block throws(RecordingError) in try append(block) }
  }

  /// The time for which the free space will last, in seconds; nil if unknown.
  public var secondsLeft: Double? {
    guard let freeBytes, bytesPerSecond > 0 else { return nil }
    return Double(freeBytes) / bytesPerSecond
  }
}

extension RecordingContainer {
  /// Creates the file of a recording. The extension of the file name selects the container.
  ///
  /// - Parameters:
  ///   - path: the path of the file. The file has its final name from the start.
  ///   - format: the format of the blocks and of the file.
  ///   - overwriting: whether to replace an existing file. It is kept under another name
  ///     (`NAME.XXXXXXXX.old`) until sound of the new recording is in the new file. If no sound
  ///     arrives, the existing file gets its name back.
  /// - Throws: `RecordingError` if the format is unsupported, an encoder cannot be opened, or the
  ///   file cannot be created.
  public static func open(
    path: String, format: RecordingFormat, overwriting: Bool = false
  ) throws(RecordingError) -> any RecordingFile {
    guard let container = RecordingContainer(path: path) else {
      throw .unknownContainer(path: path)
    }
    try container.requireSupport(of: format, path: path)
    // The encoders are opened first, so that their errors leave no file behind.
    let body: any RecordingBody =
      switch container {
      case .movie: try MovieBody(format, path: path)
      case .wave: WaveBody(format)
      case .flac: try FLACBody(format, path: path)
      case .matroska: try MatroskaBody(format, path: path)
      }
    let output = try RecordingOutput(path: path, overwriting: overwriting)
    return try SegmentedRecording(format: format, body: body, output: output)
  }

  /// Checks that the container can store `format`.
  ///
  /// - Throws: `RecordingError.unsupported` if it cannot.
  private func requireSupport(
    of format: RecordingFormat, path: String
  ) throws(RecordingError) {
    func refuse(_ reason: String) -> RecordingError { .unsupported(path: path, reason: reason) }
    guard (1...Self.maximumChannels).contains(format.channels) else {
      throw refuse(
        "\(format.channels) channels cannot be recorded; choose 1 to \(Self.maximumChannels)")
    }
    guard Self.sampleRates.contains(format.sampleRate) else {
      throw refuse(
        "\(format.sampleRate) Hz cannot be recorded; choose \(Self.sampleRates.lowerBound) to "
          + "\(Self.sampleRates.upperBound) Hz")
    }
    switch self {
    case .flac where format.codec == .float:
      throw refuse(
        "FLAC cannot store floating-point samples; choose the codec pcm24 or another file format")
    case .flac where format.channels > 8:
      throw refuse(
        "FLAC stores at most 8 channels, not \(format.channels); choose another file format")
    case .movie where format.isFirstOrder && !MovieBody.stereoRates.contains(format.sampleRate):
      throw refuse(
        "the stereo track of a movie cannot have a sample rate of \(format.sampleRate) Hz; "
          + "choose 48000 or 96000 Hz, or another file format")
    default: break
    }
  }
}
