// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

/// Keeps a head tracker connected and its samples flowing into a `HeadPoseSource`.
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
  private let choice: TrackerChoice
  private let source: HeadPoseSource
  private let axes: AxisMap
  private let record: (@Sendable (TrackerMeasurement) -> Void)?
  private let calibration: @Sendable (TrackerDescription) -> TrackerCalibration?
  private let tell: @Sendable (TrackerEvent) -> Void
  private let current = Mutex<TrackerDescription?>(nil)

  /// - Parameters:
  ///   - choice: which tracker.
  ///   - source: takes the samples.
  ///   - axes: how the tracker's axes lie on the head.
  ///   - onEvent: hears what happens, on the session's thread; it must not call `stop()`.
  ///   - calibration: what is known of a tracker, asked for each time one is opened.
  ///   - record: hears every sample before it is calibrated, on the session's thread.
  public init(
    _ choice: TrackerChoice, feeding source: HeadPoseSource, axes: AxisMap = .rightFrontUp,
    onEvent: @escaping @Sendable (TrackerEvent) -> Void = { _ in },
    calibration: @escaping @Sendable (TrackerDescription) -> TrackerCalibration? = { _ in nil },
    record: (@Sendable (TrackerMeasurement) -> Void)? = nil
  ) {
    self.choice = choice
    self.source = source
    self.axes = axes
    self.calibration = calibration
    self.record = record
    tell = onEvent
  }

  deinit { worker.stop() }

  /// The tracker that is open now.
  public var tracker: TrackerDescription? { current.withLock { $0 } }

  /// Starts the session's thread.
  public func start() {
    let (worker, loop) = (worker, loop)
    worker.start { loop.run(worker) }
  }

  /// Silences the tracker and ends the thread, within 100 ms. The session cannot start again.
  public func stop() { worker.stop() }

  /// The thread's work, without a hold on the session itself.
  private var loop: TrackerLoop {
    TrackerLoop(
      choice: choice, source: source, axes: axes, calibration: calibration, record: record,
      tell: tell
    ) { [weak self] tracker in
      self?.current.withLock { $0 = tracker }
    }
  }
}
