// SPDX-License-Identifier: Apache-2.0

import System

/// Keeps a head tracker connected and feeds its samples to a `HeadSampleSink`.
///
/// Until a tracker is open, the session looks for one about every 400 ms. A lost tracker is used
/// again when it comes back. Two seconds after the loss, the session also accepts another tracker
/// that fits the selection.
///
/// When a tracker that keeps its reference frame comes back over Bluetooth, the stage stays where
/// it was. Otherwise a new reference frame begins.
///
/// ## Threading
/// A session may be used from any thread. Events arrive on the session's own thread.
public final class TrackerSession: Sendable {
  private let worker = Worker()
  private let loop: TrackerLoop

  /// Creates a session; `start()` starts it.
  ///
  /// - Parameters:
  ///   - selection: which tracker to use.
  ///   - sink: receives the samples.
  ///   - settings: where to look for trackers, and how to interpret their samples.
  ///   - onEvent: receives events, on the session's thread. It must not call `stop()`.
  ///   - calibration: returns the calibration of a tracker; nil if there is none.
  ///   - record: receives the measurements, on the session's thread.
  public init(
    _ selection: TrackerSelection, feeding sink: any HeadSampleSink,
    settings: TrackerSettings = TrackerSettings(),
    onEvent: @escaping @Sendable (TrackerEvent) -> Void = { _ in },
    calibration: @escaping @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil },
    record: (@Sendable (TrackerMeasurement) -> Void)? = nil
  ) {
    loop = TrackerLoop(
      selection: selection, sink: sink, settings: settings, calibration: calibration,
      record: record, tell: onEvent)
  }

  deinit { worker.stop(withinMilliseconds: 1000) }

  /// The tracker that is open now; nil if there is none.
  public var tracker: TrackerDescription? { loop.current.tracker }

  /// Starts the session's thread, which does not retain the session.
  public func start() {
    let (worker, loop) = (worker, loop)
    worker.start { loop.run(worker) }
  }

  /// Stops the tracker's reports and ends the thread, waiting for up to 1 s. The session cannot
  /// start again.
  public func stop() { worker.stop(withinMilliseconds: 1000) }
}

/// How a session chooses its tracker.
public enum TrackerSelection: Sendable, Equatable {
  /// The first head tracker that appears, preferably the one in the Bluetooth headphones that play
  /// the sound.
  case automatic
  /// The tracker that `TrackerList.match` returns for the identifier, now or when it appears.
  case id(String)
}

/// An event that a session reports.
public enum TrackerEvent: Sendable, Equatable {
  /// No tracker was found; the session keeps looking.
  case waiting
  /// A tracker is open and started.
  case connected(TrackerDescription)
  /// The tracker is gone; the session looks for it again.
  case lost(TrackerDescription)
  /// After a reconnection, a new reference frame begins: the direction that the head faces at the
  /// next sample becomes the front. This event follows `connected`.
  case newFront
  /// The tracker's reference frame jumped. The stage stays where it was.
  case discontinuity
  /// The tracker's recentring button was pressed.
  case recentered
  /// The earphones were put on (true) or taken off (false).
  case worn(Bool)
  /// A tracker cannot be found or used. The session keeps trying.
  case failed(HeadTrackingError)
}

/// A sample from a tracker, for a recording or a calibration.
public struct TrackerMeasurement: Sendable, Equatable {
  /// The orientation in the tracker's own reference frame. The calibration is applied only if the
  /// orientation filter computed the orientation.
  public var head: HeadSample
  /// The raw sample, uncalibrated; nil if the tracker computes its orientation itself.
  public var inertial: InertialSample?

  public init(head: HeadSample, inertial: InertialSample? = nil) {
    self.head = head
    self.inertial = inertial
  }
}
