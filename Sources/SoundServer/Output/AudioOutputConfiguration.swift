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
  /// The server's address, in the syntax of the server's own library. Nil uses that library's
  /// default; the library reads variables such as `PULSE_SERVER`.
  public var serverAddress: String?

  /// The sink's name. Nil selects the default sink; the server decides whether the stream follows
  /// changes of the default.
  public var sinkName: String?

  /// The stream's sample rate, 1 to 384000 [Hz]. The server resamples if its sink has another rate.
  /// Default: 48000.
  public var sampleRate = 48_000

  /// The latency to request, from writing a frame to hearing it [ms]; with PipeWire, the length of
  /// a cycle. If nil, the latency adapts: it doubles when the queue runs low or, with PipeWire,
  /// when cycles are skipped repeatedly, and shrinks after each quiet minute. Default: nil.
  ///
  /// With PulseAudio, an adaptive latency begins at 150 ms if the queue is rewritten or
  /// `latencyIsFree` is true, otherwise at 50 ms, and grows to at most 200 ms. With PipeWire, it
  /// begins at 2.7 ms and grows to at most 42.7 ms; if `latencyIsFree` is true, it is always 42.7
  /// ms.
  public var latencyMilliseconds: Double?

  /// Whether latency does no harm, because nothing can change the sound that is queued. With
  /// PulseAudio, the queue is then as deep as a rewritten one; with PipeWire, long cycles are
  /// requested. Default: false.
  public var latencyIsFree = false

  /// Whether the queue is rewritten. Default: automatic.
  public var rewriting = RewritingChoice.automatic

  /// Whether the stream opens paused, so that `resume` starts the sound. With PulseAudio, the queue
  /// is filled before that. Default: false.
  public var startsPaused = false

  /// The program's name in mixers.
  public var applicationName = "Stillstage"

  /// The stream's name in mixers.
  public var mediaName = "Playback"

  /// The `media.role` property, which servers use to choose volumes and routes. Default: "music".
  public var mediaRole = "music"

  /// The time that each attempt to connect may take [ms]. With PulseAudio, it includes opening the
  /// stream. With PipeWire, opening the stream may take the same time again. Default: 2000.
  public var connectTimeoutMilliseconds = 2000

  /// Whether the audio thread asks for real-time scheduling or, if that is refused, for a higher
  /// priority. If neither is permitted, it silently continues with its normal priority. Default:
  /// true.
  public var raisesPriority = true

  /// Whether the server may move the stream to another sink. With PulseAudio, a stream that may not
  /// move is lost when its sink is removed. Default: true.
  package var mayMove = true

  /// Whether requests of less than the stream's `minreq` stay unanswered, so that the server
  /// receives few, large pieces. A module-pipe-sink stores each piece in a page of its own.
  /// Default: false.
  package var writesLargePieces = false

  /// The rules of an adaptive latency.
  package var queueRules = QueueDepth.Rules()

  /// The largest rewrite margin [ms]. Automatic rewriting stops if the sink reads further ahead.
  package var largestMarginMilliseconds = 150.0

  public init() {}
}
