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
/// The first error of `append` or `flush` ends the recording. The file keeps the earlier segments,
/// and later calls of `append` and `flush` throw the same error.
///
/// ## Threading
/// Use a file from one thread at a time. The calls may wait for the disk.
public protocol RecordingFile: AnyObject, Sendable {
  var format: RecordingFormat { get }
  var counts: RecordingCounts { get }
  /// Facts about the current segment. They are cleared when the segment has been written. Only a
  /// movie with a first-order soundfield stores them.
  var note: RecordingNote { get set }
  /// The parameters of the Audio Mix as a JSON object. If `storesTuning` is true, `finish` stores
  /// them, unless there is no sound or an error has occurred.
  var tuning: String { get set }
  /// Whether the file can store `tuning`. Only a movie with a first-order soundfield can.
  var storesTuning: Bool { get }
  /// The number of bytes per second of sound: the average over the file or over its latest part,
  /// whichever is larger. Before any sound is stored, this is the number for uncompressed sound.
  var bytesPerSecond: Double { get }
  /// The number of bytes that are free for this user on the disk; nil if it is unknown, or after
  /// `finish`.
  var freeBytes: Int64? { get }

  /// Appends a block, and writes the segments that are then complete. After `finish`, it
  /// appends nothing.
  ///
  /// - Parameter samples: complete frames, as frames x channels, with full scale 1.
  /// - Throws: `RecordingError.diskFull`, `.fileTooLarge`, `.writeFailed` or `.encodingFailed`.
  func append(_ samples: UnsafeBufferPointer<Float>) throws(RecordingError)

  /// Writes the frames that are in memory. An encoder may still hold back some of them.
  ///
  /// - Throws: any error that `append` can throw.
  func flush() throws(RecordingError)

  /// Completes and closes the file. Further calls to `finish` do nothing. If there is an error and
  /// the file contains no sound, the file is removed.
  ///
  /// - Throws: any error that `append` can throw, unless `append` or `flush` has already thrown
  ///   one. The file is closed in any case.
  func finish() throws(RecordingError)
}

extension RecordingFile {
  /// Appends a block, frames x channels.
  public func append(_ samples: [Float]) throws(RecordingError) {
    try samples.withUnsafeBufferPointer { block throws(RecordingError) in try append(block) }
  }

  /// The duration of sound for which the disk has enough free space, in seconds; nil if it is
  /// unknown.
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
  /// - Throws: `RecordingError` if the extension is unknown, the format is not supported, an
  ///   encoder cannot be opened, or the file cannot be created or written.
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
        "a recording cannot have \(format.channels) channels; choose 1 to \(Self.maximumChannels)")
    }
    guard Self.sampleRates.contains(format.sampleRate) else {
      throw refuse(
        "a recording cannot have a sample rate of \(format.sampleRate) Hz; choose "
          + "\(Self.sampleRates.lowerBound) to \(Self.sampleRates.upperBound) Hz")
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
