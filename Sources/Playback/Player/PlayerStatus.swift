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
    /// The source is not delivering sound fast enough, and the player is waiting in silence.
    case buffering
    /// The output cannot play: it is still connecting, or its server or sink is missing, suspended
    /// or frozen. The player keeps trying.
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
  /// How the programme is rendered now, for which device, and why.
  public var route: RouteDecision
  /// The state of the head pose; nil if the head is recorded or `PlayerOptions.head` is `.none`.
  public var head: HeadPoseStatus?
  public var tracker: TrackerDescription?
  public var output: AudioOutputStatus
  /// The linear gain that the listener has set.
  public var volume: Float
  /// The style and the amount of the mix; nil if the sound is not mixed.
  public var mix: MixStatus?
  /// The report on the levelling of the source; nil if levelling is off, or before the first sound.
  public var loudness: LoudnessReport?
  /// The number of frames muted because of invalid samples.
  public var mutedFrames: Int
}

/// The style of a mix, and how far it is applied.
public struct MixStatus: Sendable, Equatable {
  public var style: MixStyle
  /// 0 to 1.
  public var amount: Double
}

/// Something that happened to a player.
public enum PlayerEvent: Sendable, Equatable {
  case output(AudioOutputEvent)
  case tracker(TrackerEvent)
  /// An event of the device tracker, such as a tracker on a screen or a seat.
  case deviceTracker(TrackerEvent)
  /// Something is wrong with the source, or there is a note about a newly chosen HRTF set. Playback
  /// continues.
  case warning(String)
  /// Playback has stopped because the source is not delivering sound fast enough.
  case buffering
  case resumed
  case modeChanged(StageMode)
  /// The style or the amount of the mix has changed.
  case mixChanged(MixStyle, amount: Double)
  /// The route or the treatment of the programme has changed.
  case routeChanged(RouteDecision)
  /// The source has this layout from now on.
  case layoutChanged(ChannelLayout)
  /// The programme is available with more channels than the mono or stereo sound that is playing.
  case multichannelOffered(MultichannelOffer)
  /// A decoder with these settings has been designed and replaces the old decoder.
  case decoderChanged(RenderSettings)
  /// The requested decoder cannot be used, and the old decoder remains.
  case decoderKept(RenderSettings, reason: PlaybackError)
  /// The source was read for the first time, the origin of the loudness value has changed, or the
  /// gain that the levelling aims at has changed by more than 1 dB.
  case loudness(LoudnessReport)
  /// An event of a source that is fetched during playback.
  case news(SourceNews)
  case finished
  /// Reading the source or seeking in it failed. After a failed read, the sound that was already
  /// read plays to its end.
  case sourceFailed(PlaybackError)
}

extension PlayerEvent {
  /// The sound server's name for the sink that is used from now on; nil for events of other kinds.
  var newSink: String? {
    guard case .output(let output) = self else { return nil }
    return switch output.kind {
    case .connected(let sink), .moved(let sink): sink
    default: nil
    }
  }

  /// The sink that the sound goes to from now on; nil for events of other kinds.
  var routedSink: Sink? {
    guard case .output(let output) = self, case .routed(let sink) = output.kind else { return nil }
    return sink
  }
}
