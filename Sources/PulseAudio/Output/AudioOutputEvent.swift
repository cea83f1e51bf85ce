// SPDX-License-Identifier: Apache-2.0

/// Something that happened to an output, with its time.
public struct AudioOutputEvent: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// A stream is open on `sink`: the first one, or one opened again after a loss.
    case connected(sink: String)
    /// The connection broke. The frames were written but not heard, and will not be.
    case serverLost(reason: String, framesQueuedAtLoss: Int)
    /// The sink went away and the server put the stream nowhere else.
    case sinkLost(reason: String, framesQueuedAtLoss: Int)
    /// The server neither answers nor asks for audio.
    case serverFrozen
    /// The server works again after `serverFrozen`.
    case serverThawed
    /// The server moved the stream to another sink.
    case moved(sink: String)
    /// Where the sound goes, told after `connected` and `moved` and when the sink's active port,
    /// form factor or profile changes.
    case routed(Sink)
    case suspended
    case unsuspended
    case defaultSinkChanged(sink: String)
    /// The queue ran dry; `total` times so far.
    case underrun(total: Int)
    /// The queue's depth is another: after an underrun, a quiet minute, or because rewriting was
    /// found not to get through, or to do so again.
    case queueChanged(milliseconds: Double, rewriting: QueueRewriting)
    /// All that was written before `drain` has been played.
    case drained
  }

  public let kind: Kind
  /// When, on CLOCK_MONOTONIC [ns].
  public let timeNanoseconds: Int64
}
