// SPDX-License-Identifier: Apache-2.0

import System

/// Keeps a head tracker connected and its samples flowing into a `HeadSampleSink`.
///
/// Until a tracker is open the session looks for one every 400 ms. Looking is hidapi's
/// enumeration, a few milliseconds: a watch on /dev would see a node before udev has given
/// it to the user, and would have to ask again anyway. An open tracker is only read; its unplugging
/// is seen at once. The same tracker is taken again when it comes back; `.automatic` takes another
/// one after two seconds.
///
/// A tracker that comes back by Bluetooth has kept its battery and its reference frame, so the
/// stage stays where it was. One that comes back by cable starts anew: where the head looks then is
/// the front.
///
/// ## Threading
/// For any thread. Events are told on the session's own thread.
public final class TrackerSession: Sendable {
  private let worker = Worker()
  private let loop: TrackerLoop

  /// - Parameters:
  ///   - selection: which tracker.
  ///   - sink: takes the samples.
  ///   - settings: axes, profiles.
  ///   - onEvent: hears what happens, on the session's thread; it must not call `stop()`.
  ///   - calibration: what is known of a tracker, asked for each time one is opened.
  ///   - record: hears every sample before it is calibrated, on the session's thread.
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

  deinit { worker.stop() }

  /// The tracker that is open now.
  public var tracker: TrackerDescription? { loop.current.tracker }

  /// Starts the session's thread, which has no hold on the session itself.
  public func start() {
    let (worker, loop) = (worker, loop)
    worker.start { loop.run(worker) }
  }

  /// Silences the tracker and ends the thread, within 100 ms. The session cannot start again.
  public func stop() { worker.stop() }
}

/// Which tracker a session uses.
public enum TrackerSelection: Sendable, Equatable {
  /// The first head tracker that appears.
  case automatic
  /// The one `TrackerList.match` finds for the identifier, now or when it appears.
  case id(String)
}

/// What happens to a session's tracker.
public enum TrackerEvent: Sendable, Equatable {
  /// No tracker to be found; the session goes on looking.
  case waiting
  /// A tracker is open and started.
  case connected(TrackerDescription)
  /// The tracker is gone; the session looks for it.
  case lost(TrackerDescription)
  /// The tracker's reference frame jumped; the stage stays where it was.
  case discontinuity
  /// The tracker's button has made where the head looks the front.
  case recentered
  /// A tracker cannot be used; said once for each reason. The session tries on.
  case failed(HeadTrackingError)
}

/// A sample as it leaves a tracker, for whoever records it.
public struct TrackerMeasurement: Sendable, Equatable {
  /// The orientation in the tracker's own reference frame, fused by the tracker or here.
  public var head: HeadSample
  /// Nil where the tracker fuses itself.
  public var inertial: InertialSample?

  public init(head: HeadSample, inertial: InertialSample? = nil) {
    self.head = head
    self.inertial = inertial
  }
}
