// SPDX-License-Identifier: Apache-2.0

/// Whether what is queued is written over when the callback can render it again.
public enum RewritingChoice: String, Sendable, Equatable, CaseIterable {
  /// Wherever it is found to get through.
  case automatic
  /// Even where pieces of it get lost.
  case always
  case never
}

/// What is asked of the sound server.
public struct AudioOutputConfiguration: Sendable, Equatable {
  /// The server's address as in `PULSE_SERVER`; nil: that variable, then libpulse's own rules.
  public var serverAddress: String?

  /// The sink's name; nil: the default sink, followed when it changes.
  public var sinkName: String?

  /// Frames per second of the stream, 1 to 384000 [Hz]. The server resamples to its sink.
  /// Default: 48000.
  public var sampleRate = 48_000

  /// Time from writing a frame to hearing it that is asked for [ms]; nil, the default: 150 where
  /// the queue can be rewritten or `latencyIsFree`, 50 elsewhere, more (up to 200) after it ran
  /// dry, less again after quiet minutes.
  public var latencyMilliseconds: Double?

  /// Whether nothing becomes known that would change what is queued: it is as deep as one that is
  /// rewritten. Default: false.
  public var latencyIsFree = false

  /// Whether what is queued is written over. Default: automatic.
  public var rewriting = RewritingChoice.automatic

  /// Opens the stream paused: the queue is filled, and `resume` lets it sound. Default: false.
  public var startsPaused = false

  /// The program's name in mixers.
  public var applicationName = "Stillstage"

  /// The stream's name in mixers.
  public var mediaName = "Playback"

  /// The `media.role` property, by which servers choose volumes and routes. Default: "music".
  public var mediaRole = "music"

  /// How long the first connection may take in all [ms]. Default: 2000.
  public var connectTimeoutMilliseconds = 2000

  /// Whether the audio thread asks to be scheduled in real time, or else before others; where that
  /// is not allowed it quietly goes on as it is. Default: true.
  public var raisesPriority = true

  /// How an adaptive queue behaves; a test has no minutes to wait.
  var queueRules = QueueDepth.Rules()

  /// A sink that reads further ahead is not followed [ms].
  var largestMarginMilliseconds = 150.0

  public init() {}
}
