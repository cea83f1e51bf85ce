// SPDX-License-Identifier: Apache-2.0

/// An event of an output, with its time.
public struct AudioOutputEvent: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// A stream has opened on `sink`.
    case connected(sink: String)
    /// The connection was lost. An estimated `framesQueuedAtLoss` frames were written but will not
    /// be heard.
    case serverLost(reason: String, framesQueuedAtLoss: Int)
    /// The sink or the stream was lost, or an attempt to open the stream again failed.
    case sinkLost(reason: String, framesQueuedAtLoss: Int)
    /// The server is connected, but does not answer or does not request audio when it should.
    case serverFrozen
    /// The server works again after `serverFrozen`.
    case serverThawed
    /// The server moved the stream to another sink.
    case moved(sink: String)
    /// The route was established or changed.
    case routed(Sink)
    case suspended
    case unsuspended
    case defaultSinkChanged(sink: String)
    /// The queue ran dry or, with PipeWire, the server skipped cycles. `total` is the number of
    /// underruns so far.
    case underrun(total: Int)
    /// The requested latency or the state of rewriting changed.
    case queueChanged(milliseconds: Double, rewriting: QueueRewriting)
    /// Everything that was written before `drain` has been played, or PipeWire's graph has stopped.
    case drained
  }

  public let kind: Kind
  /// The time of the event, in CLOCK_MONOTONIC nanoseconds.
  public let timeNanoseconds: Int64

  package init(kind: Kind, timeNanoseconds: Int64) {
    (self.kind, self.timeNanoseconds) = (kind, timeNanoseconds)
  }
}
