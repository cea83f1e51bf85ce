// SPDX-License-Identifier: Apache-2.0

/// The state of an output.
public enum AudioOutputState: UInt8, Sendable, CaseIterable {
  /// The output has not been started.
  case idle
  /// The output is opening its first stream.
  case connecting
  /// The stream is playing.
  case playing
  /// The output is paused, by `pause` or because it was configured to start paused.
  case paused
  /// The server or another program has suspended the sink; the queue is kept.
  case suspended
  /// Draining is complete. Nothing more is pulled until `resume`.
  case drained
  /// The connection is lost. A new attempt begins about 100 ms after the loss, and after each
  /// failed attempt.
  case serverLost
  /// The server runs, but it has no sink, the requested sink is missing, or the stream cannot be
  /// opened. A new attempt begins about 100 ms after the loss, and after each failed attempt.
  case sinkLost
  /// The server is connected, but it does not answer or does not request audio that is due.
  case serverFrozen
  /// The first connection failed. A call of `start` tries again.
  case failed
  /// `stop` has ended the output.
  case stopped
}

/// Whether the queue is rewritten, and if not, why.
public enum QueueRewriting: Sendable, Equatable {
  case active
  /// The render callback cannot render queued sound again.
  case unsupportedBySource
  /// The configuration disables rewriting.
  case switchedOff
  /// The sink reads further ahead than the largest margin or than it reports, so it has already
  /// read the frames to be replaced. `milliseconds` is the margin or the sink's latency, whichever
  /// is greater.
  case sinkReadsTooFarAhead(milliseconds: Double)

  /// The name of the case in event logs: "active", "unsupported", "off" or "sink-reads-ahead".
  public var name: String {
    switch self {
    case .active: "active"
    case .unsupportedBySource: "unsupported"
    case .switchedOff: "off"
    case .sinkReadsTooFarAhead: "sink-reads-ahead"
    }
  }
}

/// A snapshot of an output. All durations are in milliseconds.
public struct AudioOutputStatus: Sendable, Equatable {
  package init() {}

  public package(set) var state = AudioOutputState.idle

  /// The stream's sample rate [Hz].
  public package(set) var sampleRate = 0

  /// The name of the sink that the stream plays to; empty before the first connection.
  public package(set) var sinkName = ""
  public package(set) var sinkDescription = ""
  /// The server's last description of the sink, with its ports; nil before the first one.
  public package(set) var sink: Sink?
  /// The sink's own sample rate [Hz]; the server resamples if it differs. 0 if unknown.
  public package(set) var sinkSampleRate = 0

  public package(set) var serverName = ""
  public package(set) var serverVersion = ""
  public package(set) var defaultSinkName = ""

  /// The latency that is requested now: the configured latency, or the one that the adaptive queue
  /// chose.
  public package(set) var requestedLatencyMilliseconds = 0.0
  /// The depth that the server granted to the stream's queue (`tlength`); with PipeWire, the length
  /// of a cycle.
  public package(set) var queueMilliseconds = 0.0
  /// The smallest amount that the server asks for (`minreq`); with PipeWire, the length of a cycle.
  public package(set) var minimumRequestMilliseconds = 0.0
  /// The length of the stream's queue in the server at the last report; nil before the first
  /// report. This part of the latency can be rewritten. With PipeWire, which has no queue, it is
  /// the length of a cycle.
  public package(set) var queuedMilliseconds: Double?
  /// The sink's share of the latency, in addition to the queue: its configured latency, or the
  /// reported one if that is greater, as with Bluetooth sinks. With PipeWire, the reported one.
  public package(set) var sinkLatencyMilliseconds = 0.0
  /// The latency from writing to hearing as last reported, at least 0; nil before the first report.
  /// With PulseAudio, at most 500 ms more than the granted latency of the queue and the sink.
  public package(set) var measuredLatencyMilliseconds: Double?
  /// Whether times may be off by one quantum, about 5 to 20 ms. This is true with PipeWire's
  /// PulseAudio protocol, which reports only complete quanta (PipeWire's processing blocks).
  public package(set) var isLatencyApproximate = false

  public package(set) var rewriting = QueueRewriting.unsupportedBySource
  /// How far ahead of the audible frame the queue is rewritten, as learned from the server.
  public package(set) var rewriteMarginMilliseconds = 0.0
  /// The number of pieces that replaced queued sound since the start.
  public package(set) var rewrites = 0
  /// The number of pieces that were rendered too late to be written.
  public package(set) var lateRewrites = 0
  /// The number of pieces whose head the sink had already read when the piece arrived. Only pieces
  /// followed by a timing request are counted.
  public package(set) var lostRewriteHeads = 0

  /// The number of times that the queue ran dry or, with PipeWire, that the server skipped cycles,
  /// while the output was playing.
  public package(set) var underruns = 0
  /// The number of frames that the render callback has supplied since the start.
  public package(set) var framesWritten: Int64 = 0
  /// The number of times that the server or the sink was lost.
  public package(set) var losses = 0
  /// The number of frames that were written but not yet heard when the server or the sink was last
  /// lost.
  public package(set) var framesQueuedAtLoss = 0
}
