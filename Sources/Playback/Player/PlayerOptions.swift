// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Media
internal import Rendering
public import SoundServer
internal import SoundSources

/// How the stage relates to the head.
public enum StageMode: String, Sendable, CaseIterable {
  /// The stage stands still while the head turns.
  case tracked
  /// The stage is fixed to the head.
  case fixed
  /// There is no stage: plain stereo.
  case off

  /// The mode that follows this one when the listener steps through the modes.
  public var next: StageMode {
    switch self {
    case .tracked: .fixed
    case .fixed: .off
    case .off: .tracked
    }
  }
}

/// The source of the head pose.
public enum HeadChoice: Sendable {
  /// The first head tracker that appears, preferably the tracker in the earphones that play the
  /// sound. Without a tracker, the head is assumed to face the front.
  case automatic
  /// The tracker that `TrackerList.match` finds for this identifier, as soon as it is connected.
  case tracker(String)
  /// Motion from a recording, which is read at the playback position in the source.
  case recorded(HeadTrajectory)
  /// A pose source that the caller feeds.
  case source(HeadPoseSource)
  case none
}

/// How far ahead the head pose is predicted.
public enum HeadPrediction: Sendable, Equatable {
  /// Prediction up to the time at which the sound is audible, but at most 200 ms, or 120 ms over
  /// Bluetooth. If latency reports are inexact, the depth of the queue is another limit.
  case automatic
  case off
  /// A fixed number of milliseconds, clamped to 0 ... 200.
  case milliseconds(Double)

  /// Returns the prediction for a sink.
  ///
  /// - Parameter queue: the depth of the queue [ms] if latency reports are inexact; otherwise nil.
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

/// The settings of a player.
public struct PlayerOptions: Sendable {
  public var render = RenderSettings()
  /// The source of the head pose. Default: automatic.
  public var head = HeadChoice.automatic
  /// The settings for finding and reading trackers, such as their axes.
  public var trackerSettings = TrackerSettings()
  /// Whether to look for AirPods, Beats, Galaxy Buds and Bluetooth LE trackers. The setting has no
  /// effect if `trackerSettings` contains providers. Default: true.
  public var usesEarphones = true
  /// Returns the user's calibration of a tracker, which supplements the tracker's own calibration.
  /// The function is called on the tracker's thread when a tracker is opened. Default: none.
  public var calibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil }
  /// The identifier, as in `HeadChoice.tracker`, of the tracker on a device such as a screen or a
  /// seat; nil for none. The stage stands still relative to the device. The setting has no effect
  /// if `head` is `.recorded` or `.none`.
  public var deviceTracker: String?
  /// How far ahead the head pose is predicted. Default: automatic.
  public var prediction = HeadPrediction.automatic
  /// Fronts from earlier sessions, by tracker ID. Each value is the yaw of the front in the
  /// tracker's own world [rad]. Only the first tracker that connects uses its front.
  public var fronts: [String: Double] = [:]
  /// How the stage relates to the head. Default: tracked.
  public var mode = StageMode.tracked
  /// The policy for the route. `render.spatialization` replaces the policy's `spatialization`. If
  /// `render.playback` is not headphones, the policy's `cancelsCrosstalk` becomes true. Default:
  /// binaural sound on headphones and unknown devices, plain stereo on loudspeakers.
  public var route = RoutePolicy()
  /// The server's name for the sink; nil for the default sink. The server decides whether playback
  /// follows changes of the default.
  public var sinkName: String?
  /// The latency to request [ms]; with PipeWire, the length of a cycle. Default: nil, for a latency
  /// that the output chooses; see `AudioOutputConfiguration.latencyMilliseconds`.
  public var latencyMilliseconds: Double?
  /// Whether queued sound is rendered again when the head moves. Default: automatic.
  public var rewriting = RewritingChoice.automatic
  /// The kind of sound server. Default: automatic.
  public var output = OutputChoice.automatic
  /// The server's address; nil for the default server. If `output` is `.pipeWire`, the address is
  /// the name or the path of a socket; otherwise, it has the syntax of `PULSE_SERVER`.
  public var serverAddress: String?
  /// A flag that, once raised, interrupts the reading of the HRTF set and the design of the decoder
  /// during the creation of a player. Default: nil.
  public var interrupt: InterruptFlag?

  public init() {}
}
