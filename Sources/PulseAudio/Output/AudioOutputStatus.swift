// SPDX-License-Identifier: Apache-2.0

/// What an output is doing.
public enum AudioOutputState: UInt8, Sendable, CaseIterable {
  /// Not started.
  case idle
  /// On the way to its first stream.
  case connecting
  /// The server asks for audio.
  case playing
  /// Corked by `pause`.
  case paused
  /// The sink is suspended by somebody; the queue waits.
  case suspended
  /// All that was written has been heard, and nothing more is pulled until `resume`.
  case drained
  /// The connection is gone; it is tried again every 100 ms.
  case serverLost
  /// The server runs, but there is no sink, or not the one asked for; tried again every 100 ms.
  case sinkLost
  /// Connected, but nothing is answered or asked for.
  case serverFrozen
  /// The first connection failed.
  case failed
  /// Ended by `stop`.
  case stopped
}

/// Whether what is queued is written over, and why not.
public enum QueueRewriting: Sendable, Equatable {
  case active
  /// The render callback cannot render again.
  case unsupportedBySource
  /// By the configuration.
  case switchedOff
  /// The sink reads further ahead than the margin may be, or than its reports say: what is written
  /// over has been read already.
  case sinkReadsTooFarAhead(milliseconds: Double)

  /// The case as event logs tell it: "active", "unsupported", "off", "sink-reads-ahead".
  public var name: String {
    switch self {
    case .active: "active"
    case .unsupportedBySource: "unsupported"
    case .switchedOff: "off"
    case .sinkReadsTooFarAhead: "sink-reads-ahead"
    }
  }
}

/// An output at one moment. Every time is in milliseconds.
public struct AudioOutputStatus: Sendable, Equatable {
  public internal(set) var state = AudioOutputState.idle

  /// The stream's rate [Hz].
  public internal(set) var sampleRate = 0

  /// Where the stream plays now; empty before the first connection.
  public internal(set) var sinkName = ""
  public internal(set) var sinkDescription = ""
  /// The sink with its ports, as it was told last; nil before that.
  public internal(set) var sink: Sink?
  /// The sink's own rate [Hz]; the server resamples if it differs. 0: not known yet.
  public internal(set) var sinkSampleRate = 0

  public internal(set) var serverName = ""
  public internal(set) var serverVersion = ""
  public internal(set) var defaultSinkName = ""

  /// The latency asked for at this time: as configured, or the adaptive queue's own choice.
  public internal(set) var requestedLatencyMilliseconds = 0.0
  /// The depth granted to the server's queue of this stream (`tlength`).
  public internal(set) var queueMilliseconds = 0.0
  /// The least the server asks for at a time (`minreq`).
  public internal(set) var minimumRequestMilliseconds = 0.0
  /// What was in the server's queue of this stream at its last report: what can be written over.
  public internal(set) var queuedMilliseconds: Double?
  /// The sink's own share of the latency, behind the queue: what it was set to, or what it reports
  /// where that is more, as a Bluetooth sink does.
  public internal(set) var sinkLatencyMilliseconds = 0.0
  /// Time from writing to hearing as the server last reported it, held within what the queue and
  /// the sink can cause; nil before the first report.
  public internal(set) var measuredLatencyMilliseconds: Double?
  /// True on PipeWire, which reports whole quanta: times may be off by one, some 5 to 20 ms.
  public internal(set) var isLatencyApproximate = false

  public internal(set) var rewriting = QueueRewriting.unsupportedBySource
  /// How far ahead of what is heard the queue is written over, as learned from the server.
  public internal(set) var rewriteMarginMilliseconds = 0.0
  /// Pieces written over what was queued, since the start.
  public internal(set) var rewrites = 0
  /// Pieces that were rendered too late to be written.
  public internal(set) var lateRewrites = 0
  /// Pieces whose head the sink had read already when they arrived.
  public internal(set) var lostRewriteHeads = 0

  /// Times the queue ran dry while playing.
  public internal(set) var underruns = 0
  /// Frames taken from the render callback since the start.
  public internal(set) var framesWritten: Int64 = 0
  /// Times the server or the sink went away.
  public internal(set) var losses = 0
  /// Frames written but not yet heard when the server or the sink last went away.
  public internal(set) var framesQueuedAtLoss = 0
}
