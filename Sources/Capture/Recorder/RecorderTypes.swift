// SPDX-License-Identifier: Apache-2.0

/// What a `Recorder` records, and how.
public struct RecorderConfiguration: Sendable {
  /// The server's address; see `AudioOutputConfiguration.serverAddress`.
  public var serverAddress: String?
  /// The server's name for the source.
  public var sourceName: String
  /// The meaning of the recorded channels. If nil, one channel is mono, two channels are stereo,
  /// and other numbers of channels cannot be recorded.
  public var microphone: MicrophoneFormat?
  /// Which channels of the source are recorded, counted from 0; nil for all.
  public var selection: [Int]?
  /// The sample rate of the recording [Hz]; nil for the rate of the source at the start.
  public var sampleRate: Int?
  /// The linear gain at the start; 1 leaves the samples unchanged.
  public var gain: Float = 1
  /// The greatest length of the recording [s]; nil for no limit.
  public var seconds: Double?
  /// Whether the recording ends when the source or the server is lost. If false, silence is
  /// recorded until the sound returns.
  public var stopsOnLoss = false
  /// Whether `Recorder.monitor` can be used. If true, the server is asked to deliver sound
  /// every 5 ms instead of every 10 ms.
  package var canBeMonitored = false
  /// The size of the buffer between source and sink, in seconds of 8-channel sound at 48 kHz.
  public var bufferSeconds = 10.0

  public init(sourceName: String) { self.sourceName = sourceName }
}

/// Why a recording could not begin.
public enum RecorderError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No microphone format was given, and this number of channels is neither 1 nor 2.
  case unclearChannels(count: Int)
  /// The number of recorded channels is not the number that the microphone format needs.
  case channelMismatch(expected: Int, found: Int)
  /// The server did not report the format of the source.
  case noFormat
  /// The source has no channel with this number, counted from 0.
  case noSuchChannel(Int, count: Int)

  public var description: String {
    switch self {
    case .unclearChannels(let count):
      "the meaning of the \(count) recorded channels is unknown; specify the microphone's format"
    case .channelMismatch(let expected, let found):
      "the number of recorded channels is \(found), but the microphone's format needs "
        + "\(expected); choose other channels or another format"
    case .noFormat:
      "the sound server opened the input, but did not report its format; try again, or choose "
        + "another input"
    case .noSuchChannel(let channel, let count):
      "the input has no channel \(channel + 1); choose channel numbers up to \(count)"
    }
  }
}

/// An event during a recording, such as a gap or a pause.
public struct RecorderEvent: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case started(input: String, sampleRate: Int, channelMap: [String])
    /// A gap whose length is now known.
    case gap(Gap)
    /// Sound has stopped arriving. `reason` describes the cause.
    case waiting(Gap.Cause, reason: String)
    /// The source delivers sound again.
    case returned(input: String)
    /// `Recorder.change(to:)` selected another source.
    case inputChanged(input: String)
    /// The source now has another rate or other channels. Its sound is converted to the format of
    /// the recording.
    case formatChanged(sampleRate: Int, channelMap: [String])
    case paused
    case resumed
    /// An error, such as a full disk, ended the recording.
    case failed(reason: String)
  }

  public let kind: Kind
  /// The time at which the event was reported, on CLOCK_MONOTONIC, in nanoseconds.
  public let timeNanoseconds: Int64
  /// For a gap, the frame of the recording at which it starts; for other events, the number of
  /// frames that had been recorded when the event was reported.
  public let position: Int64
}

/// The state of a recording at one time.
public struct RecorderStatus: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    case recording
    case paused
    /// No sound is arriving from the source.
    case waiting
    case finished
    case failed(reason: String)
  }

  public var state = State.recording
  /// The server's name for the source.
  public var input = ""
  public var frames: Int64 = 0
  public var sampleRate = 1
  public var seconds: Double { Double(frames) / Double(sampleRate) }
  public var gaps = 0
  public var gapSeconds = 0.0
  /// The drift of the source's clock in parts per million, positive if that clock is fast; nil if
  /// it is unknown.
  public var driftPartsPerMillion: Double?
  /// The highest magnitude of a recorded sample so far, with full scale 1.
  public var peak: Float = 0
  /// The number of samples that were NaN or infinite and were replaced with 0.
  public var invalidSamples = 0
  public var clippedSamples = 0
  /// The used part of the buffer between the source and the sink, 0 to 1.
  public var bufferFill = 0.0
  /// The duration of sound for which the sink still has space [s]; nil if it is unknown.
  public var secondsLeft: Double?
}

/// What `Recorder.takeLevels` returns: the levels, with full scale 1, and the direction of arrival.
public struct RecorderLevels: Sendable, Equatable {
  /// The highest magnitude in each channel; 0 if no frame was recorded since the last call. Empty
  /// if the recorder has not reported since the last call.
  public var peaks: [Float]
  public var rms: [Float]
  /// The direction of arrival; nil for silence, or if the sound is not a first-order soundfield.
  public var direction: FieldDirection?
}
