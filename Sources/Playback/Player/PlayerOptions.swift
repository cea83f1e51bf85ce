// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Media
public import PulseAudio
internal import Rendering
internal import SoundSources

/// What the stage follows.
public enum StageMode: String, Sendable, CaseIterable {
  /// The stage stands still in the room.
  case tracked
  /// The stage is fixed to the head.
  case fixed
  /// Plain stereo.
  case off

  /// The next mode, in a cycle.
  public var next: StageMode {
    switch self {
    case .tracked: .fixed
    case .fixed: .off
    case .off: .tracked
    }
  }
}

/// The origin of the head pose.
public enum HeadChoice: Sendable {
  /// The first head tracker that appears. Without one, the head is assumed to face the front.
  case automatic
  /// A particular tracker, by its id, now or when it appears.
  case tracker(String)
  /// Recorded motion, over the time of the source.
  case recorded(HeadTrajectory)
  /// A pose source that the caller feeds.
  case source(HeadPoseSource)
  case none
}

/// How far ahead the head pose is predicted.
public enum HeadPrediction: Sendable, Equatable {
  /// To the time at which the sound is audible, as measured from the queue and the server. The
  /// limit is 200 ms; 120 ms over Bluetooth, whose latency is only estimated; and the depth of the
  /// queue on PipeWire, which reports too long a latency.
  case automatic
  case off
  /// A fixed number of milliseconds, whatever the latency; at most 200.
  case milliseconds(Double)

  /// - Parameters:
  ///   - sink: the sound server's name of the output.
  ///   - queue: the depth of the queue in ms if the server's latency reports are inexact; otherwise
  ///     nil.
  func pose(for sink: String, queue: Double? = nil) -> PosePrediction {
    let limit = min(queue ?? 200, sink.hasPrefix("bluez") ? 120 : 200)
    return switch self {
    case .automatic: .measured(atMost: Int64(max(0, limit) * 1_000_000))
    case .off: .off
    case .milliseconds(let milliseconds):
      .fixed(Int64(max(0, min(milliseconds, 200)) * 1_000_000))
    }
  }
}

/// How a player plays.
public struct PlayerOptions: Sendable {
  public var render = RenderSettings()
  /// The origin of the head pose. Default: any tracker.
  public var head = HeadChoice.automatic
  /// The axes of the tracker, and the profiles of simple trackers.
  public var trackerSettings = TrackerSettings()
  /// Returns the calibration of a tracker, which adds to what the tracker itself reports. It is
  /// called on the tracker's thread when a tracker is opened. Default: none.
  public var calibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil }
  /// The id of a second tracker, fixed to the device in which the stage stands still; nil for a
  /// stage that stands still in the room. It has an effect only if `head` is a tracker or a pose
  /// source.
  public var deviceTracker: String?
  /// How far ahead the head pose is predicted. Default: by the measured latency.
  public var prediction = HeadPrediction.automatic
  /// Fronts of earlier sessions, by tracker id: the yaw in the tracker's own world, in radians.
  public var fronts: [String: Double] = [:]
  /// What the stage follows. Default: it stands still.
  public var mode = StageMode.tracked
  /// The policy for the route. `spatialization` is taken from `render`. Default: binaural sound on
  /// headphones, plain stereo on loudspeakers.
  public var route = RoutePolicy()
  /// The sound server's name of the output; nil for its default, which the player follows when it
  /// changes.
  public var sinkName: String?
  /// Depth of the server's queue, in ms. Default: nil, which lets the output choose and adapt it.
  public var latencyMilliseconds: Double?
  /// Whether sound queued in the sound server is rendered again when the head moves, so that a turn
  /// is audible immediately. Default: if the server plays the replaced sound.
  public var rewriting = RewritingChoice.automatic
  /// The server's address, as in `PULSE_SERVER`; nil for that variable, then libpulse's rules.
  public var serverAddress: String?
  /// Cancels the creation of a player: the reading of an HRTF set and the design of filters.
  public var interrupt: InterruptFlag?

  public init() {}
}
