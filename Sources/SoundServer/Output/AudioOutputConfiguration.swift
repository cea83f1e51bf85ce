// SPDX-License-Identifier: Apache-2.0

/// Whether the queue is rewritten, if the callback can render queued sound again.
public enum RewritingChoice: String, Sendable, Equatable, CaseIterable {
  /// Rewrites unless the sink reads too far ahead.
  case automatic
  /// Rewrites even if parts of the rewritten sound are lost.
  case always
  case never
}

/// The settings of an output.
public struct AudioOutputConfiguration: Sendable, Equatable {
  /// The server's address, in the syntax of the server's own library; nil for the library's
  /// default.
  public var serverAddress: String?

  /// The sink's name; nil for the default sink. The server decides whether the stream follows
  /// changes of the default.
  public var sinkName: String?

  /// The stream's sample rate, 1 to 384000 [Hz]. Default: 48000.
  public var sampleRate = 48_000

  /// The latency to request [ms]; with PipeWire, the length of a cycle. Default: nil, for an
  /// adaptive latency.
  ///
  /// An adaptive latency grows when the queue runs low or, with PipeWire, when cycles are skipped
  /// repeatedly. It shrinks after some time without such an event.
  ///
  /// - PulseAudio: The latency begins at 150 ms if the queue is rewritten or `latencyIsFree` is
  ///   true; otherwise, it begins at 50 ms. The limit is 200 ms.
  /// - PipeWire: The latency begins at 2.7 ms, and the limit is 42.7 ms. If `latencyIsFree` is
  ///   true, the latency is always 42.7 ms.
  public var latencyMilliseconds: Double?

  /// Whether latency does no harm, because nothing can change the queued sound. Default: false.
  public var latencyIsFree = false

  /// Whether the queue is rewritten; without effect with PipeWire, whose outputs never rewrite.
  /// Default: automatic.
  public var rewriting = RewritingChoice.automatic

  /// Whether the stream opens paused. Default: false.
  public var startsPaused = false

  /// The program's name in mixers.
  public var applicationName = "Stillstage"

  /// The stream's name in mixers.
  public var mediaName = "Playback"

  /// The `media.role` property of the stream. Default: "music".
  public var mediaRole = "music"

  /// The time that each attempt to connect may take [ms]. With PipeWire, opening the stream may
  /// take as long again. Default: 2000.
  public var connectTimeoutMilliseconds = 2000

  /// Whether the audio thread asks for real-time scheduling or a higher priority, and whether this
  /// process locks its memory. Default: true.
  public var raisesPriority = true

  /// Whether the server may move the stream to another sink. Default: true.
  package var mayMove = true

  /// Whether requests for less than the stream's `minreq` remain unanswered, so that each write
  /// is large. Default: false.
  package var writesLargePieces = false

  /// The limits and times of an adaptive latency. A PipeWire output uses only the times.
  package var queueRules = QueueDepth.Rules()

  /// With PipeWire, the initial and smallest adaptive latency, which is the length of a cycle [ms].
  package var shortestCycleMilliseconds = 2.7

  /// The largest rewrite margin [ms]. Automatic rewriting stops if the sink reads further ahead.
  package var largestMarginMilliseconds = 150.0

  public init() {}
}
