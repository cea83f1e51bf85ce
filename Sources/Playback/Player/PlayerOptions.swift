// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Media
internal import Rendering
public import SoundServer
internal import SoundSources

/// How the stage relates to the head.
public enum StageMode: String, Sendable, CaseIterable {
  /// The stage stands still in the room.
  case tracked
  /// The stage is fixed to the head.
  case fixed
  /// There is no stage: plain stereo.
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
  /// The first head tracker that appears; if there are several, preferably the tracker in the
  /// earphones that play the sound. Without a tracker, the head is assumed to face the front.
  case automatic
  /// The tracker with this ID, as soon as it is connected.
  case tracker(String)
  /// Recorded motion, which follows the position in the source.
  case recorded(HeadTrajectory)
  /// A pose source that the caller feeds.
  case source(HeadPoseSource)
  case none
}

/// How far ahead the head pose is predicted.
public enum HeadPrediction: Sendable, Equatable {
  /// Prediction up to the measured time at which the sound is audible, but at most 200 ms ahead.
  /// Over Bluetooth, where the latency is only an estimate, the limit is 120 ms. With PipeWire's
  /// PulseAudio protocol, whose latency reports are inexact, the limit is also at most the depth of
  /// the queue.
  case automatic
  case off
  /// A fixed number of milliseconds, regardless of the latency; at most 200.
  case milliseconds(Double)

  /// Returns the prediction for an output.
  ///
  /// - Parameters:
  ///   - sink: the sound server's name for the output.
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
  /// The origin of the head pose. Default: the first head tracker that appears.
  public var head = HeadChoice.automatic
  /// Settings that trackers do not report themselves, such as their axes.
  public var trackerSettings = TrackerSettings()
  /// Whether AirPods and Galaxy Buds that are connected over Bluetooth count as trackers, unless
  /// `trackerSettings` contains providers. Default: true.
  public var usesEarphones = true
  /// Returns the user's calibration of a tracker, which applies in addition to any calibration that
  /// the tracker itself reports. Called on the tracker's thread when a tracker is opened. Default:
  /// none.
  public var calibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil }
  /// The ID of a second tracker, fixed to the device (such as a screen or a seat) relative to which
  /// the stage stands still; nil for a stage that stands still in the room. The setting has no
  /// effect if `head` is `.recorded` or `.none`.
  public var deviceTracker: String?
  /// How far ahead the head pose is predicted. Default: automatic.
  public var prediction = HeadPrediction.automatic
  /// Fronts from earlier sessions, by tracker ID: the yaw in the tracker's own world, in radians.
  /// They are used only when the first tracker connects.
  public var fronts: [String: Double] = [:]
  /// How the stage relates to the head. Default: tracked.
  public var mode = StageMode.tracked
  /// The policy for the route. Its `spatialization` is replaced by the one in `render`, and its
  /// `cancelsCrosstalk` is set if `render` plays over loudspeakers. Default: binaural sound on
  /// headphones and unknown devices, plain stereo on loudspeakers.
  public var route = RoutePolicy()
  /// The sound server's name for the output; nil for the server's default. The server decides
  /// whether playback follows changes of the default.
  public var sinkName: String?
  /// The latency to request from the sound server, in ms. With PipeWire, this is the length of a
  /// cycle. Default: nil, which lets the output choose and adapt the latency.
  public var latencyMilliseconds: Double?
  /// Whether sound queued in the sound server is rendered again when the head moves, so that a turn
  /// is audible immediately. Default: automatic, which rewrites unless the sink reads too far
  /// ahead.
  public var rewriting = RewritingChoice.automatic
  /// The kind of sound server. Default: automatic, which is PipeWire if it answers and has sinks,
  /// `serverAddress` is nil, and `PULSE_SERVER` names no other server. Otherwise, it is
  /// PulseAudio.
  public var output = OutputChoice.automatic
  /// The server's address: for PipeWire, the name or the path of its socket; otherwise an address
  /// in the syntax of `PULSE_SERVER`. Nil for the user's own server.
  public var serverAddress: String?
  /// Interrupts the creation of a player: the reading of an HRTF set and the design of filters.
  public var interrupt: InterruptFlag?

  public init() {}
}
