// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import HeadTracking
public import PulseAudio
internal import Rendering
internal import SoundSources

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
  /// What is heard of the programme, where, and why.
  public var route: RouteDecision
  /// Nil without a tracker.
  public var head: HeadPoseStatus?
  public var tracker: TrackerDescription?
  public var output: AudioOutputStatus
  /// Linear gain of the listener's volume.
  public var volume: Float
  /// What is done about the source's loudness; nil where that is off, and before the first sound.
  public var loudness: LoudnessReport?
  /// Frames with numbers that are no sound, muted.
  public var mutedFrames: Int
}

/// Something that happened to a player.
public enum PlayerEvent: Sendable, Equatable {
  case output(AudioOutputEvent)
  case tracker(TrackerEvent)
  /// Of the tracker that the stage stands still in.
  case deviceTracker(TrackerEvent)
  /// Something was wrong with the source and was played past.
  case warning(String)
  /// Silence while the source does not deliver.
  case buffering
  case resumed
  case modeChanged(StageMode)
  /// The route, or what is heard there, has become another.
  case routeChanged(RouteDecision)
  /// The source's channels are these from now on.
  case layoutChanged(ChannelLayout)
  /// A stereo rendition is played, and the programme is to be had in more channels.
  case multichannelOffered(MultichannelOffer)
  /// What is decoded from now on by another HRTF set, order or design.
  case decoderChanged(RenderSettings)
  /// The decoder that was wished for cannot be made; the old one goes on.
  case decoderKept(RenderSettings, reason: PlaybackError)
  /// Other knowledge of the source's loudness counts, or its gain is to move by more than 1 dB.
  case loudness(LoudnessReport)
  /// Something happened to a source that is fetched while it is played.
  case news(SourceNews)
  case finished
  /// The source cannot be read on; what has been read is played to its end.
  case sourceFailed(PlaybackError)
}

extension PlayerEvent {
  /// The sound server's name of an output that is played to from now on.
  var newSink: String? {
    guard case .output(let output) = self else { return nil }
    return switch output.kind {
    case .connected(let sink), .moved(let sink): sink
    default: nil
    }
  }

  /// The sink where the sound goes from now on.
  var routedSink: Sink? {
    guard case .output(let output) = self, case .routed(let sink) = output.kind else { return nil }
    return sink
  }
}
