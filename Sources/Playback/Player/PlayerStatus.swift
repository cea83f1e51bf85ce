// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import AudioMix
public import HeadTracking
internal import Rendering
public import SoundServer
internal import SoundSources

/// The state of a player at one moment.
public struct PlayerStatus: Sendable {
  public enum State: String, Sendable {
    case playing
    case paused
    /// The player waits in silence until the source has delivered enough sound.
    case buffering
    /// The output is not connected, or its server or sink is missing, suspended or frozen.
    case waitingForOutput
    /// The source has been heard to its end.
    case finished
    case stopped
  }

  public var state: State
  /// The audible position in the source [s].
  public var position: Double
  /// The duration of the source [s]; nil if unknown.
  public var duration: Double?
  public var mode: StageMode
  /// How the programme is rendered, for which device, and why.
  public var route: RouteDecision
  /// The state of the head pose; nil if the head's motion comes from a recording or is not
  /// tracked.
  public var head: HeadPoseStatus?
  public var tracker: TrackerDescription?
  public var output: AudioOutputStatus
  /// The linear playback gain.
  public var volume: Float
  /// The style and the amount of the mix; nil if the sound is not mixed.
  public var mix: MixStatus?
  /// The report on levelling; nil if levelling is off or the source has not been read yet.
  public var loudness: LoudnessReport?
  /// The number of frames muted because of invalid samples.
  public var mutedFrames: Int
}

/// The style and the amount of a mix.
public struct MixStatus: Sendable, Equatable {
  public var style: MixStyle
  /// The amount, from 0 to 1.
  public var amount: Double
}

/// An event of a player.
public enum PlayerEvent: Sendable, Equatable {
  case output(AudioOutputEvent)
  case tracker(TrackerEvent)
  /// An event of the tracker that `PlayerOptions.deviceTracker` names.
  case deviceTracker(TrackerEvent)
  /// A warning about the source, or a note about the HRTF set. Playback continues.
  case warning(String)
  /// Playback is interrupted until the source has delivered enough sound.
  case buffering
  case resumed
  case modeChanged(StageMode)
  /// The style or the amount of the mix was set.
  case mixChanged(MixStyle, amount: Double)
  /// The output's route was established or has changed, or the decision has changed. The value is
  /// the current decision.
  case routeChanged(RouteDecision)
  /// The source has this layout from now on.
  case layoutChanged(ChannelLayout)
  /// The mono or stereo programme is available with more channels.
  case multichannelOffered(MultichannelOffer)
  /// A decoder with these settings replaces the old decoder.
  case decoderChanged(RenderSettings)
  /// The requested decoder cannot be used. The old decoder remains.
  case decoderKept(RenderSettings, reason: PlaybackError)
  /// The source was read for the first time, the origin of the loudness value has changed, or the
  /// target gain of the levelling differs by more than 1 dB from its value in the last such event.
  case loudness(LoudnessReport)
  /// An event of a streamed source.
  case news(SourceNews)
  case finished
  /// Reading the source or seeking in it failed. After a failed read, the sound that was already
  /// read plays to its end.
  case sourceFailed(PlaybackError)
}

extension PlayerEvent {
  /// The name of the sink in a `.connected` or `.moved` event; nil for other events.
  var newSink: String? {
    guard case .output(let output) = self else { return nil }
    return switch output.kind {
    case .connected(let sink), .moved(let sink): sink
    default: nil
    }
  }

  /// The sink in a `.routed` event; nil for other events.
  var routedSink: Sink? {
    guard case .output(let output) = self, case .routed(let sink) = output.kind else { return nil }
    return sink
  }
}
