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

  /// The next one round.
  public var next: StageMode {
    switch self {
    case .tracked: .fixed
    case .fixed: .off
    case .off: .tracked
    }
  }
}

/// Where the head's pose comes from.
public enum HeadChoice: Sendable {
  /// The first head tracker that appears; without one the head is taken to look ahead.
  case automatic
  /// A certain tracker, now or when it appears.
  case tracker(String)
  /// A recorded head, over the source's time.
  case recorded(HeadTrajectory)
  /// A pose source that the caller feeds.
  case source(HeadPoseSource)
  case none
}

/// How far ahead the head is predicted.
public enum HeadPrediction: Sendable, Equatable {
  /// To when the sound is heard, as the queue and the server tell; at most 200 ms, 120 ms over
  /// Bluetooth, whose latency is only estimated, and the depth of the queue on PipeWire, which
  /// tells more than there is.
  case automatic
  case off
  /// By so many milliseconds, whatever the latency; at most 200.
  case milliseconds(Double)

  /// - Parameters:
  ///   - sink: the sound server's name of the output.
  ///   - queue: its depth in ms where the server's reports of latency are off; nil where not.
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
  /// Default: any tracker.
  public var head = HeadChoice.automatic
  /// Axes of the tracker, profiles of simple trackers.
  public var trackerSettings = TrackerSettings()
  /// What is known of a tracker beyond what it says itself, asked for when one is opened, on the
  /// tracker's thread. Default: nothing.
  public var calibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil }
  /// A second tracker, fixed to what the stage stands still in; nil: the room. Of use where `head`
  /// is a tracker.
  public var deviceTracker: String?
  /// Default: by the measured latency.
  public var prediction = HeadPrediction.automatic
  /// Fronts from another time, by the trackers' ids: the yaw in the tracker's own world, radians.
  public var fronts: [String: Double] = [:]
  /// Default: the stage stands still.
  public var mode = StageMode.tracked
  /// What the route decides. `spatialization` is taken from `render`. Default: headphones get
  /// binaural sound, loudspeakers plain stereo.
  public var route = RoutePolicy()
  /// The sound server's name of the output; nil: its default, followed when it changes.
  public var sinkName: String?
  /// Depth of the server's queue in ms; nil, the default: the output's own choice, which adapts.
  public var latencyMilliseconds: Double?
  /// Whether what is queued in the sound server is rendered again when the head moves, so that a
  /// turn is heard at once. Default: where it gets through.
  public var rewriting = RewritingChoice.automatic
  /// The server's address as in `PULSE_SERVER`; nil: that variable, then libpulse's rules.
  public var serverAddress: String?
  /// Ends the making of a player: the reading of an HRTF set, the design of filters.
  public var interrupt: InterruptFlag?

  public init() {}
}
