// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// What a session's thread does: find, open, read, and again.
struct TrackerLoop: Sendable {
  var choice: TrackerChoice
  var source: HeadPoseSource
  var axes: AxisMap
  var calibration: @Sendable (TrackerDescription) -> TrackerCalibration?
  var record: (@Sendable (TrackerMeasurement) -> Void)?
  var tell: @Sendable (TrackerEvent) -> Void
  var show: @Sendable (TrackerDescription?) -> Void

  private static let lookMilliseconds = 400
  /// The end of the thread is noticed as often.
  private static let readMilliseconds = 50
  /// A tracker that says nothing for so long may have forgotten that it was started.
  private static let silence: Int64 = 2_000_000_000
  /// How long `.automatic` prefers the tracker it had.
  private static let loyalty: Int64 = 2_000_000_000
  /// hidraw keeps the oldest 63 reports: a queue that was full ends long before now.
  private static let fullQueue = 60

  private struct State {
    var previous: TrackerDescription?
    var lostAt: Int64 = 0
    var isWaiting = false
    var told: [HeadTrackingError] = []
  }

  private struct Open {
    var tracker: TrackerDescription
    var device: HIDDevice
    var driver: AndroidHeadTracker
    var calibration: TrackerCalibration?
  }

  func run(_ worker: Worker) {
    var state = State()
    while !worker.isStopped {
      if let open = open(&state) {
        connected(open, &state)
        read(open, worker)
        if worker.isStopped {
          try? open.driver.stop(open.device)
        } else {
          tell(.lost(open.tracker))
        }
        show(nil)
        state.lostAt = monotonic_nanoseconds()
      } else {
        worker.sleep(milliseconds: Self.lookMilliseconds)
      }
    }
  }

  // MARK: Find

  private func open(_ state: inout State) -> Open? {
    do throws(HeadTrackingError) {
      guard let tracker = try find(state) else {
        if !state.isWaiting { tell(.waiting) }
        state.isWaiting = true
        return nil
      }
      return try open(tracker)
    } catch {
      if !state.told.contains(error) { tell(.failed(error)) }
      state.told.append(error)
      if state.told.count > 16 { state.told.removeFirst() }
      return nil
    }
  }

  private func find(_ state: State) throws(HeadTrackingError) -> TrackerDescription? {
    let list = TrackerList.current()
    if let previous = state.previous {
      if let same = list.trackers.first(where: previous.isSameDevice) { return same }
      if monotonic_nanoseconds() - state.lostAt < Self.loyalty { return nil }
    }
    guard case .id(let id) = choice else {
      return list.trackers.first { $0.access == .ready } ?? list.trackers.first
    }
    if list.trackers.isEmpty || state.previous != nil {
      // It may be one of several of its name that has gone: wait for that one.
      return try? list.match(id)
    }
    return try list.match(id)
  }

  private func open(_ tracker: TrackerDescription) throws(HeadTrackingError) -> Open {
    if let error = tracker.accessError { throw error }
    let device: HIDDevice
    do throws(HIDOpenFailure) {
      device = try HIDDevice(path: tracker.path)
    } catch {
      throw .cannotOpen(path: tracker.path, reason: errorText(error.error))
    }
    let driver = try AndroidHeadTracker(device: device, path: tracker.path)
    try driver.start(device)
    return Open(
      tracker: tracker, device: device, driver: driver, calibration: calibration(tracker))
  }

  private func connected(_ open: Open, _ state: inout State) {
    let isBack = state.previous.map(open.tracker.isSameDevice) ?? false
    if isBack && open.tracker.bus == .bluetooth {
      source.resumeReference()
    } else {
      source.beginReference()
    }
    state.previous = open.tracker
    state.isWaiting = false
    state.told = []
    show(open.tracker)
    tell(.connected(open.tracker))
  }

  // MARK: Read

  private enum Heard {
    case gone
    case nothing
    /// Reports came; the newest sample among them, if there was one.
    case reports(HeadSample?)
  }

  private func read(_ open: Open, _ worker: Worker) {
    var buffer = [UInt8](repeating: 0, count: max(64, open.driver.inputLength))
    var heard = monotonic_nanoseconds()
    while !worker.isStopped {
      switch listen(open, &buffer) {
      case .gone: return
      case .nothing:
        let now = monotonic_nanoseconds()
        guard now - heard > Self.silence else { continue }
        heard = now
        try? open.driver.start(open.device)
      case .reports(let sample):
        heard = monotonic_nanoseconds()
        if let sample, source.push(sample) { tell(.discontinuity) }
      }
    }
  }

  /// Waits for a report and takes all there are: after a stall of this thread only the newest is
  /// of use.
  private func listen(_ open: Open, _ buffer: inout [UInt8]) -> Heard {
    var sample: HeadSample?
    var count = 0
    while count < 4096 {
      let timeout = count == 0 ? Self.readMilliseconds : 0
      switch open.device.read(into: &buffer, timeoutMilliseconds: timeout) {
      case .gone: return .gone
      case .nothing:
        if count == 0 { return .nothing }
        return .reports(count < Self.fullQueue ? sample : nil)
      case .report(let length):
        count += 1
        let report = Array(buffer.prefix(length))
        let decoded = open.driver.decode(report, time: monotonic_nanoseconds(), axes: axes)
        if decoded == nil { source.reject() }
        if let decoded {
          record?(TrackerMeasurement(head: decoded))
          sample = open.calibration?.applied(to: decoded) ?? decoded
        }
      }
    }
    return .reports(nil)
  }
}
