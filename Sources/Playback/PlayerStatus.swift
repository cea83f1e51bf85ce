// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import PulseAudio

/// A player at one moment.
public struct PlayerStatus: Sendable {
  public enum State: String, Sendable {
    case playing
    case paused
    /// The source does not deliver fast enough; the sound waits in silence.
    case buffering
    /// There is no sound server or sink at the moment; tried again and again.
    case waitingForOutput
    /// All of the source has been heard.
    case finished
    case stopped
  }

  public var state: State
  /// Seconds of the source that have been heard.
  public var position: Double
  /// Seconds; nil where it is not known.
  public var duration: Double?
  public var mode: StageMode
  /// Nil without a tracker.
  public var head: HeadPoseStatus?
  public var tracker: TrackerDescription?
  public var output: AudioOutputStatus
  /// Linear gain of the listener's volume.
  public var volume: Float
  /// Frames with numbers that are no sound, muted.
  public var mutedFrames: Int
}

/// Something that happened to a player.
public enum PlayerEvent: Sendable {
  case output(AudioOutputEvent)
  case tracker(TrackerEvent)
  /// Something was wrong with the source and was played past.
  case warning(String)
  /// Silence while the source does not deliver.
  case buffering
  case resumed
  case modeChanged(StageMode)
  /// What is decoded from now on by another HRTF set, order or design.
  case decoderChanged(RenderSettings)
  /// The decoder that was wished for cannot be made; the old one goes on.
  case decoderKept(RenderSettings, PlaybackError)
  case finished
  /// The source cannot be read on; what has been read is played to its end.
  case sourceFailed(String)
}
