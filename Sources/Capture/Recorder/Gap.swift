// SPDX-License-Identifier: Apache-2.0

/// A part of a recording that is silent because its sound was lost.
public struct Gap: Sendable, Equatable {
  public enum Cause: String, Sendable, Equatable {
    /// The source delivered nothing or too few frames.
    case device
    /// The server lost frames.
    case dropped
    /// The frames did not fit into the buffer, because the disk or this process was too slow.
    case overrun
    case suspended
    case inputLost
    case inputMoved
    case serverLost
    case serverFrozen
    /// The rate, the channels or the sample encoding of the source changed.
    case formatChanged
    /// `Recorder.change(to:)` selected another source.
    case inputChanged
  }

  public let cause: Cause
  /// The frame of the recording at which the gap starts.
  public let position: Int64
  /// The length of the silence in seconds, above 0.
  public let seconds: Double
}

/// Receives sound, silence and gaps from a `Timeline`.
protocol TimelineOutput: AnyObject {
  /// Appends sound of the source. `samples` is frames x channels.
  func append(_ samples: UnsafePointer<Float>, frames: Int) throws
  /// Appends silence in place of missing sound. A later call of `note` reports the gap.
  func appendSilence(seconds: Double) throws
  /// Reports a gap whose silence has already been appended.
  func note(_ cause: Gap.Cause, seconds: Double)
}
