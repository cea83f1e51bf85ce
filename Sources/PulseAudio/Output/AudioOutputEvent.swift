// SPDX-License-Identifier: Apache-2.0

/// An event of an output, with its time.
public struct AudioOutputEvent: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// A stream is open on `sink`: the first one, or one that was opened again after a loss.
    case connected(sink: String)
    /// The connection was lost. The queued frames were written but not heard, and will not be.
    case serverLost(reason: String, framesQueuedAtLoss: Int)
    /// The sink was removed, and the server moved the stream nowhere else.
    case sinkLost(reason: String, framesQueuedAtLoss: Int)
    /// The server neither answers nor asks for audio.
    case serverFrozen
    /// The server works again after `serverFrozen`.
    case serverThawed
    /// The server moved the stream to another sink.
    case moved(sink: String)
    /// The route changed: posted after the first connection, and whenever the sink or its ports,
    /// form factor, profile, icon or description change.
    case routed(Sink)
    case suspended
    case unsuspended
    case defaultSinkChanged(sink: String)
    /// The queue ran dry; `total` is the number of underruns so far.
    case underrun(total: Int)
    /// The depth of the queue or the state of rewriting changed: after an underrun or a quiet
    /// minute, or because rewriting was found not to work, or to work again.
    case queueChanged(milliseconds: Double, rewriting: QueueRewriting)
    /// Everything that was written before `drain` has been played.
    case drained
  }

  public let kind: Kind
  /// The time of the event, on CLOCK_MONOTONIC [ns].
  public let timeNanoseconds: Int64
}
