// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// The form in which a source is recorded.
public struct SourceFormat: Sendable, Equatable {
  public let sampleRate: Int
  /// The server's name for each channel.
  public let channelMap: [String]
  /// The source's sample encoding. The server sends the samples in this encoding, or as float32 if
  /// it is `.other`.
  public let encoding: SampleEncoding
  public var channelCount: Int { channelMap.count }

  public init(sampleRate: Int, channelMap: [String], encoding: SampleEncoding) {
    (self.sampleRate, self.channelMap, self.encoding) = (sampleRate, channelMap, encoding)
  }
}

/// Recorded frames, valid during the call that delivers them.
public struct SourceBlock {
  /// The samples with full scale 1, interleaved: frames x channels. Nil for a hole: frames that the
  /// server lost.
  public let samples: UnsafePointer<Float>?
  public let frameCount: Int
  public let channelCount: Int
  /// When the frames arrived, CLOCK_MONOTONIC [ns].
  public let arrivalTimeNanoseconds: Int64
  /// When the source recorded the first frame according to the server, CLOCK_MONOTONIC [ns]; nil
  /// before the server's first report.
  public let captureTimeNanoseconds: Int64?

  public init(
    samples: UnsafePointer<Float>?, frameCount: Int, channelCount: Int,
    arrivalTimeNanoseconds: Int64, captureTimeNanoseconds: Int64?
  ) {
    self.samples = samples
    self.frameCount = frameCount
    self.channelCount = channelCount
    self.arrivalTimeNanoseconds = arrivalTimeNanoseconds
    self.captureTimeNanoseconds = captureTimeNanoseconds
  }
}

/// A change in the state of a `SourceCapture`.
public enum SourceCaptureEvent: Sendable, Equatable {
  /// A stream has opened, either for the first time or again. The blocks that follow have this
  /// format.
  case opened(SourceFormat)
  /// The source was removed, or the server ended the stream.
  case sourceLost(reason: String)
  /// The connection to the server was lost, or the server did not answer in time while the stream
  /// was being opened.
  case serverLost(reason: String)
  /// The server is connected but does not answer.
  case serverFrozen
  /// The server answers again after `serverFrozen`.
  case serverThawed
  case suspended
  case unsuspended
  /// The server moved the stream to another source. The stream is closed and opened again on the
  /// original source.
  case moved(source: String)
  /// The rate, the channels or the sample encoding of the source changed. The stream is closed and
  /// opened again.
  case formatChanged
}
