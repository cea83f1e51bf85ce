// SPDX-License-Identifier: Apache-2.0

import System

/// Keeps a head tracker connected and feeds its samples to a `HeadSampleSink`.
///
/// Until a tracker is open, the session looks for one about every 400 ms. For HID, a search reads
/// sysfs and opens the candidates, which takes a few milliseconds. Watching /dev instead would
/// report a node before udev has given the user access to it, so the session would have to retry
/// anyway. While a tracker is open, the session does not search. If the tracker is lost, the
/// session uses it again when it comes back. After two seconds, the session also accepts another
/// tracker that fits the selection.
///
/// Some trackers keep their reference frame while their Bluetooth link is interrupted, because they
/// run on a battery. When such a tracker comes back, the stage stays where it was. Otherwise a new
/// reference frame begins.
///
/// ## Threading
/// Use a session from any thread. Events arrive on the session's own thread.
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
  ///   - calibration: returns the calibration of a tracker, or nil if there is none. It is called
  ///     each time the session tries to open a tracker.
  ///   - record: receives the samples, on the session's thread. They are uncalibrated, except
  ///     orientations that the filter computes from raw samples.
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

  /// Stops the tracker's reports and ends the thread, usually within 100 ms. If the tracker does
  /// not answer, the method returns after 1 s, and the thread ends later. The session cannot start
  /// again.
  public func stop() { worker.stop(withinMilliseconds: 1000) }
}

/// How a session chooses its tracker.
public enum TrackerSelection: Sendable, Equatable {
  /// The first head tracker that appears. If there are several, the tracker in the Bluetooth
  /// headphones that play the sound is preferred.
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
  /// The tracker's reference frame jumped. The stage stays where it was.
  case discontinuity
  /// The tracker's recentring button was pressed: the front becomes the direction that the head
  /// faces.
  case recentered
  /// The earphones were put in (true) or taken out (false). The pose holds while they are out.
  case worn(Bool)
  /// A tracker cannot be found or used. The session keeps trying, and does not report a recent
  /// error again until a tracker connects.
  case failed(HeadTrackingError)
}

/// A sample from a tracker, for a recording.
public struct TrackerMeasurement: Sendable, Equatable {
  /// The orientation in the tracker's own reference frame, computed by the tracker or by the
  /// orientation filter. The calibration is applied only if the filter computed the orientation.
  public var head: HeadSample
  /// The raw sample, uncalibrated; nil if the tracker computes its orientation itself.
  public var inertial: InertialSample?

  public init(head: HeadSample, inertial: InertialSample? = nil) {
    self.head = head
    self.inertial = inertial
  }
}
