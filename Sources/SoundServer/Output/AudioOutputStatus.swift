// SPDX-License-Identifier: Apache-2.0

/// What an output is doing, or why it is not playing.
public enum AudioOutputState: UInt8, Sendable, CaseIterable {
  /// The output has not been started.
  case idle
  /// The output is connecting to the server or opening its first stream.
  case connecting
  case playing
  case paused
  /// The sink is suspended.
  case suspended
  /// Draining is complete. `resume` continues playback.
  case drained
  /// The connection is lost. The output tries to reconnect.
  case serverLost
  /// The sink or the stream was lost, or the stream cannot be opened. The output tries again.
  case sinkLost
  /// The server is connected, but does not answer or does not request audio when it should.
  case serverFrozen
  /// The output could not connect or could not open its first stream. Another call of `start` tries
  /// again.
  case failed
  /// `stop` has ended the output.
  case stopped
}

/// Whether the queue is rewritten, and if not, why.
public enum QueueRewriting: Sendable, Equatable {
  case active
  /// The render callback cannot render queued sound again, or the output uses PipeWire.
  case unsupportedBySource
  /// The configuration disables rewriting.
  case switchedOff
  /// The sink reads too far ahead for rewriting. `milliseconds` is the greater of
  /// `AudioOutputStatus.rewriteMarginMilliseconds` and `sinkLatencyMilliseconds`.
  case sinkReadsTooFarAhead(milliseconds: Double)

  /// The name of the case in event logs.
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
  /// The server's last description of the sink; nil before the first one.
  public package(set) var sink: Sink?
  /// The sink's own sample rate [Hz]; 0 if unknown.
  public package(set) var sinkSampleRate = 0

  public package(set) var serverName = ""
  public package(set) var serverVersion = ""
  public package(set) var defaultSinkName = ""

  /// The latency that is requested now.
  public package(set) var requestedLatencyMilliseconds = 0.0
  /// The granted depth of the queue (`tlength`); with PipeWire, the length of a cycle.
  public package(set) var queueMilliseconds = 0.0
  /// The smallest request of the server (`minreq`); with PipeWire, the length of a cycle.
  public package(set) var minimumRequestMilliseconds = 0.0
  /// The length of the queue at the last report; nil before the first report. With PipeWire, the
  /// length of a cycle.
  public package(set) var queuedMilliseconds: Double?
  /// The sink's share of the latency, in addition to the queue.
  public package(set) var sinkLatencyMilliseconds = 0.0
  /// The latency from writing to hearing, as last reported or, with PipeWire, as last estimated;
  /// nil before the first report.
  public package(set) var measuredLatencyMilliseconds: Double?
  /// Whether reported latencies may be wrong by up to one cycle, as with PipeWire's PulseAudio
  /// protocol.
  public package(set) var isLatencyApproximate = false

  public package(set) var rewriting = QueueRewriting.unsupportedBySource
  /// The distance from the audible frame to the first frame that can be rewritten; 0 before the
  /// first report and with PipeWire.
  public package(set) var rewriteMarginMilliseconds = 0.0
  /// The number of windows that have been rewritten.
  public package(set) var rewrites = 0
  /// The number of windows that were rendered too late to be written.
  public package(set) var lateRewrites = 0
  /// The number of rewritten windows whose start is known to have arrived too late.
  public package(set) var lostRewriteHeads = 0

  /// The number of times that the queue ran dry or, with PipeWire, that the server skipped cycles.
  public package(set) var underruns = 0
  /// The number of frames that the render callback has supplied.
  public package(set) var framesWritten: Int64 = 0
  /// The number of times that an open stream lost its server or sink.
  public package(set) var losses = 0
  /// The number of frames that were written but not yet heard when an open stream last lost its
  /// server or sink.
  public package(set) var framesQueuedAtLoss = 0
}
