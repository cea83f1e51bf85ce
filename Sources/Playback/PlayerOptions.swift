// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Media

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

/// How a player plays.
public struct PlayerOptions: Sendable {
  public var render = RenderSettings()
  /// Default: any tracker.
  public var head = HeadChoice.automatic
  /// What is known of a tracker beyond what it says itself, asked for when one is opened, on the
  /// tracker's thread. Default: nothing.
  public var calibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil }
  /// Default: the stage stands still.
  public var mode = StageMode.tracked
  /// The sound server's name of the output; nil: its default, followed when it changes.
  public var sinkName: String?
  /// Depth of the server's queue in ms. Default: 50.
  public var latencyMilliseconds = 50.0
  /// The server's address as in `PULSE_SERVER`; nil: that variable, then libpulse's rules.
  public var serverAddress: String?
  /// Ends the making of a player: the reading of an HRTF set, the design of filters.
  public var interrupt: InterruptFlag?

  public init() {}
}
