// SPDX-License-Identifier: Apache-2.0

/// A file to which a recording is written.
///
/// The file has its final name from the start and can be read at any time. If the program is
/// killed, up to about one second of sound is missing.
///
/// Samples that are not finite become 0. For `pcm24`, a sample becomes the nearest multiple
/// of 2^-23 in the range from -1 to 1 - 2^-23.
///
/// ## Errors
/// The first error ends the recording: the file keeps the earlier segments, and later calls of
/// `append` and `flush` throw the same error.
///
/// ## Threading
/// Use a file from one thread at a time. The calls may wait for the disk.
public protocol RecordingFile: AnyObject, Sendable {
  var format: RecordingFormat { get }
  var counts: RecordingCounts { get }
  /// Facts about the current segment, cleared when the segment has been written. Only a movie with
  /// a first-order soundfield stores them.
  var note: RecordingNote { get set }
  /// The parameters of the Audio Mix as a JSON object, stored if `storesTuning` is true.
  var tuning: String { get set }
  /// Whether the file can store `tuning`.
  var storesTuning: Bool { get }
  /// The number of bytes per second of sound: the average over the file or over its latest part,
  /// whichever is larger. Before the first segment, it is the number for uncompressed sound.
  var bytesPerSecond: Double { get }
  /// The number of bytes that are free for this user on the disk; nil if it is unknown, or after
  /// `finish`.
  var freeBytes: Int64? { get }

  /// Appends a block.
  ///
  /// - Parameter samples: complete frames, as frames x channels, with full scale 1.
  /// - Throws: `RecordingError.diskFull`, `.fileTooLarge`, `.writeFailed` or `.encodingFailed`.
  func append(_ samples: UnsafeBufferPointer<Float>) throws(RecordingError)

  /// Writes the frames that are in memory. An encoder may keep back some of them.
  ///
  /// - Throws: any error from `append`.
  func flush() throws(RecordingError)

  /// Completes and closes the file. Further calls of `finish` do nothing.
  ///
  /// - Throws: any error from `append`, unless one was thrown before. The file is closed in any
  ///   case.
  func finish() throws(RecordingError)
}

extension RecordingFile {
  /// Appends a block, frames x channels.
  public func append(_ samples: [Float]) throws(RecordingError) {
    try samples.withUnsafeBufferPointer { block throws(RecordingError) in try append(block) }
  }

  /// The time for which the free space lasts, in seconds; nil if it is unknown.
  public var secondsLeft: Double? {
    guard let freeBytes, bytesPerSecond > 0 else { return nil }
    return Double(freeBytes) / bytesPerSecond
  }
}

extension RecordingContainer {
  /// Creates the file of a recording. The file name's extension selects the container.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - format: the format of the blocks and of the file.
  ///   - overwriting: whether to replace an existing file. The existing file is kept as
  ///     `NAME.XXXXXXXX.old` until the new file contains sound.
  /// - Throws: `RecordingError` if the format is not supported, an encoder cannot be opened, or the
  ///   file cannot be created or written.
  public static func open(
    path: String, format: RecordingFormat, overwriting: Bool = false
  ) throws(RecordingError) -> any RecordingFile {
    guard let container = RecordingContainer(path: path) else {
      throw .unknownContainer(path: path)
    }
    try container.requireSupport(of: format, path: path)
    // Open the encoders first, so that their errors leave no file behind.
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

  /// Throws `RecordingError.unsupported` if the container cannot store `format`.
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
