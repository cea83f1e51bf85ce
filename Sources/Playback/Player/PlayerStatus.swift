// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import HeadTracking
public import PulseAudio
internal import Rendering
internal import SoundSources

/// The state of a player at one moment.
public struct PlayerStatus: Sendable {
  public enum State: String, Sendable {
    case playing
    case paused
    /// The source does not deliver fast enough, and the player waits in silence.
    case buffering
    /// There is no sound server or sink at the moment. The player keeps trying.
    case waitingForOutput
    /// All of the source has been audible.
    case finished
    case stopped
  }

  public var state: State
  /// The position in the source that is audible, in seconds.
  public var position: Double
  /// The duration of the source, in seconds; nil if unknown.
  public var duration: Double?
  public var mode: StageMode
  /// What is audible of the programme, on which device, and why.
  public var route: RouteDecision
  /// The state of the head pose; nil without live poses.
  public var head: HeadPoseStatus?
  public var tracker: TrackerDescription?
  public var output: AudioOutputStatus
  /// Linear gain of the listener's volume.
  public var volume: Float
  /// The levelling of the source; nil if that is off, and before the first sound.
  public var loudness: LoudnessReport?
  /// The number of frames muted because of invalid samples.
  public var mutedFrames: Int
}

/// Something that happened to a player.
public enum PlayerEvent: Sendable, Equatable {
  case output(AudioOutputEvent)
  case tracker(TrackerEvent)
  /// An event of the tracker on the device that the stage stands still in.
  case deviceTracker(TrackerEvent)
  /// Something was wrong with the source, and playback continued past it.
  case warning(String)
  /// The sound has stopped because the source does not deliver.
  case buffering
  case resumed
  case modeChanged(StageMode)
  /// The route or the treatment of the programme has changed.
  case routeChanged(RouteDecision)
  /// The source has this layout from now on.
  case layoutChanged(ChannelLayout)
  /// Mono or stereo is playing, and the programme is available with more channels.
  case multichannelOffered(MultichannelOffer)
  /// Another HRTF set, order or design decodes the sound from now on.
  case decoderChanged(RenderSettings)
  /// The requested decoder cannot be created, and the old one stays.
  case decoderKept(RenderSettings, reason: PlaybackError)
  /// The gain now follows from other knowledge of the loudness, or will move by more than 1 dB.
  case loudness(LoudnessReport)
  /// Something happened to a source that is fetched during playback.
  case news(SourceNews)
  case finished
  /// The source cannot be read any further. What has been read plays to its end.
  case sourceFailed(PlaybackError)
}

extension PlayerEvent {
  /// The sound server's name of the sink that is used from now on.
  var newSink: String? {
    guard case .output(let output) = self else { return nil }
    return switch output.kind {
    case .connected(let sink), .moved(let sink): sink
    default: nil
    }
  }

  /// The sink that the sound goes to from now on.
  var routedSink: Sink? {
    guard case .output(let output) = self, case .routed(let sink) = output.kind else { return nil }
    return sink
  }
}
