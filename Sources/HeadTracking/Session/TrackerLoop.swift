// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization
import System

/// The work of a session's thread, which repeatedly finds, opens and reads a tracker.
struct TrackerLoop: Sendable {
  let selection: TrackerSelection
  let sink: any HeadSampleSink
  let settings: TrackerSettings
  let calibration: @Sendable (TrackerDescription) -> TrackerCalibration?
  let record: (@Sendable (TrackerMeasurement) -> Void)?
  let tell: @Sendable (TrackerEvent) -> Void
  /// The tracker that is open now, shared with other threads.
  let current = Current()

  final class Current: Sendable {
    private let state = Mutex<TrackerDescription?>(nil)

    var tracker: TrackerDescription? {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  private static let lookMilliseconds = 400
  /// Longest wait for a report, in milliseconds.
  private static let readMilliseconds = 50
  /// Nanoseconds without a report after which `TrackerConnection.restart()` is called, unless
  /// `restartsItself` is set.
  private static let silence: Int64 = 2_000_000_000
  /// Nanoseconds for which the loop waits for the previous tracker before it uses another one.
  private static let loyalty: Int64 = 2_000_000_000

  private struct State {
    var previous: TrackerDescription?
    var lostAt: Int64 = 0
    var isWaiting = false
    var told: [HeadTrackingError] = []
  }

  private struct Open {
    var tracker: TrackerDescription
    var connection: any TrackerConnection
    var calibration: TrackerCalibration?
  }

  func run(_ worker: Worker) {
    var state = State()
    while !worker.isStopped {
      if var open = open(&state) {
        connected(open, &state)
        read(&open.connection, open.calibration, worker)
        if worker.isStopped {
          open.connection.close()
        } else {
          tell(.lost(open.tracker))
        }
        current.tracker = nil
        state.lostAt = monotonic_nanoseconds()
      } else {
        worker.sleep(milliseconds: Self.lookMilliseconds)
      }
    }
  }

  // MARK: Find

  private func open(_ state: inout State) -> Open? {
    do throws(HeadTrackingError) {
      var settings = settings
      settings.takesFirst = selection == .automatic && state.previous == nil
      let list = TrackerList.current(settings)
      guard let tracker = try find(in: list, state) else {
        if !state.isWaiting { tell(.waiting) }
        state.isWaiting = true
        return nil
      }
      if let error = tracker.accessError { throw error }
      let calibration = calibration(tracker)
      let connection = try list.connect(
        tracker, isCalibrated: calibration != nil || settings.isCalibrating)
      return Open(tracker: tracker, connection: connection, calibration: calibration)
    } catch {
      if !state.told.contains(error) { tell(.failed(error)) }
      state.told.append(error)
      if state.told.count > 16 { state.told.removeFirst() }
      return nil
    }
  }

  private func find(
    in list: TrackerList, _ state: State
  ) throws(HeadTrackingError) -> TrackerDescription? {
    if let previous = state.previous {
      if let same = list.trackers.first(where: previous.isSameDevice) { return same }
      if monotonic_nanoseconds() - state.lostAt < Self.loyalty { return nil }
    }
    guard case .id(let id) = selection else {
      let heads = list.trackers.filter { $0.kind == .head && !$0.isAway }
      let ready = heads.filter { $0.access == .ready }
      guard ready.count > 1, let output = settings.outputAddress()?.uppercased() else {
        return ready.first ?? heads.first
      }
      return ready.first { $0.serial.uppercased() == output } ?? ready.first
    }
    if list.trackers.isEmpty || state.previous != nil {
      // If no tracker matches, or several match, wait for the right one instead of reporting
      // an error.
      return try? list.match(id)
    }
    return try list.match(id)
  }

  private func connected(_ open: Open, _ state: inout State) {
    let isFirst = state.previous == nil
    let isBack = state.previous.map(open.tracker.isSameDevice) ?? false
    let keepsFront = isBack && open.tracker.bus == .bluetooth && open.connection.keepsReference
    if keepsFront {
      sink.resumeReference()
    } else {
      sink.beginReference()
    }
    sink.levelsOnRecenter = open.connection.levelsOnRecenter
    state.previous = open.tracker
    state.isWaiting = false
    state.told = []
    current.tracker = open.tracker
    tell(.connected(open.tracker))
    if !isFirst, !keepsFront { tell(.newFront) }
  }

  // MARK: Read

  private func read(
    _ connection: inout any TrackerConnection, _ calibration: TrackerCalibration?, _ worker: Worker
  ) {
    var intake = TrackerIntake(
      sink: sink, fusion: settings.fusion, calibration: calibration, record: record,
      tell: tell)
    var heard = monotonic_nanoseconds()
    while !worker.isStopped {
      switch connection.listen(timeoutMilliseconds: Self.readMilliseconds) {
      case .gone: return
      case .nothing:
        let now = monotonic_nanoseconds()
        guard !connection.restartsItself, now - heard > Self.silence else { continue }
        heard = now
        connection.restart()
      case .readings(let readings, let rejected):
        heard = monotonic_nanoseconds()
        for _ in 0..<rejected { sink.reject() }
        for reading in readings { intake.take(reading) }
      }
    }
  }
}
