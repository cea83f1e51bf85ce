// SPDX-License-Identifier: Apache-2.0

/// Whether the queue is rewritten when the callback can render it again.
public enum RewritingChoice: String, Sendable, Equatable, CaseIterable {
  /// Rewrites unless the sink reads too far ahead for it to work.
  case automatic
  /// Rewrites even if pieces of it are lost.
  case always
  case never
}

/// The settings of an output.
public struct AudioOutputConfiguration: Sendable, Equatable {
  /// The server's address as in `PULSE_SERVER`; nil for that variable, then libpulse's own rules.
  public var serverAddress: String?

  /// The sink's name; nil for the default sink, which is followed when it changes.
  public var sinkName: String?

  /// The stream's sample rate, 1 to 384000 [Hz]. The server resamples to its sink. Default: 48000.
  public var sampleRate = 48_000

  /// The latency to request, from writing a frame to hearing it [ms]. Nil, the default, adapts it:
  /// 150 if the queue can be rewritten or with `latencyIsFree`, otherwise 50; more (up to 200)
  /// after an underrun, less again after quiet minutes.
  public var latencyMilliseconds: Double?

  /// Whether latency has no cost because nothing can change the sound that is queued. The queue is
  /// then as deep as one that is rewritten. Default: false.
  public var latencyIsFree = false

  /// Whether the queue is rewritten. Default: automatic.
  public var rewriting = RewritingChoice.automatic

  /// Opens the stream paused: the queue is filled, and `resume` starts the sound. Default: false.
  public var startsPaused = false

  /// The program's name in mixers.
  public var applicationName = "Stillstage"

  /// The stream's name in mixers.
  public var mediaName = "Playback"

  /// The `media.role` property, which servers use to choose volumes and routes. Default: "music".
  public var mediaRole = "music"

  /// The total time that the first connection may take [ms]. Default: 2000.
  public var connectTimeoutMilliseconds = 2000

  /// Whether the audio thread asks for real-time scheduling, or else for a higher priority. If
  /// neither is permitted, it silently continues with its normal priority. Default: true.
  public var raisesPriority = true

  /// The rules of an adaptive queue, which tests shorten.
  var queueRules = QueueDepth.Rules()

  /// Rewriting stops on a sink that reads further ahead than this [ms].
  var largestMarginMilliseconds = 150.0

  public init() {}
}
