// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// The format in which a source is recorded.
public struct SourceFormat: Sendable, Equatable {
  public let sampleRate: Int
  /// The server's name for each channel.
  public let channelMap: [String]
  /// The source's sample encoding. The server converts `.other` to float32.
  public let encoding: SampleEncoding
  public var channelCount: Int { channelMap.count }

  public init(sampleRate: Int, channelMap: [String], encoding: SampleEncoding) {
    (self.sampleRate, self.channelMap, self.encoding) = (sampleRate, channelMap, encoding)
  }
}

/// Recorded frames, valid during the call that delivers them.
public struct SourceBlock {
  /// The samples, interleaved [frames x channels], with full scale 1; nil for frames that the
  /// server lost.
  public let samples: UnsafePointer<Float>?
  public let frameCount: Int
  public let channelCount: Int
  /// The arrival time of the frames, in CLOCK_MONOTONIC nanoseconds.
  public let arrivalTimeNanoseconds: Int64
  /// The capture time of the first frame according to the server, in CLOCK_MONOTONIC nanoseconds;
  /// nil before the server's first timing report.
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
  /// A stream has opened. The blocks that follow have this format.
  case opened(SourceFormat)
  /// The source or its stream was lost.
  case sourceLost(reason: String)
  /// The connection to the server was lost, or the server did not answer in time.
  case serverLost(reason: String)
  /// The server is connected but does not answer.
  case serverFrozen
  /// The server answers again after `serverFrozen`.
  case serverThawed
  case suspended
  case unsuspended
  /// The server moved the stream to another source. The capture opens the original source again.
  case moved(source: String)
  /// The source's rate, channels or sample encoding changed. The capture opens the stream again.
  case formatChanged
}
