// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import Glibc
import HeadTracking
import Synchronization

/// The commands of the probe; times are CLOCK_MONOTONIC nanoseconds.
///
/// - `list [ID]` prints the trackers, or the one that matches.
/// - `watch ID|auto SECONDS` prints events and, every millisecond, the pose for the renderer;
///   SIGTERM ends it cleanly.
/// - `raw ID|auto SECONDS` prints every sample from the drivers.
/// - `cost` prints the cost of searching for trackers and of reading the pose.
/// - `drop` before a command gives up root privileges.
enum Probe {
  private static let isEnding = Atomic<Bool>(false)

  static func run(_ arguments: [String]) -> Int32 {
    var words = arguments
    if words.first == "drop" {
      words.removeFirst()
      if getuid() == 0 { _ = setuid(65534) }
    }
    switch words.first {
    case "list": return list(words.dropFirst().first)
    case "watch" where words.count == 3: return watch(words[1], seconds: Double(words[2]) ?? 1)
    case "raw" where words.count >= 3:
      return raw(words[1], seconds: Double(words[2]) ?? 1)
    case "cost": return cost()
    default:
      say(
        "usage: tracker-probe [drop] list [ID] | watch ID|auto SECONDS | raw ID|auto SECONDS | cost"
      )
      return 2
    }
  }

  static func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }

  private static func list(_ id: String?) -> Int32 {
    let before = monotonic_nanoseconds()
    let list = TrackerList.current(settings)
    say("listed in \(monotonic_nanoseconds() - before)")
    do {
      let trackers = try id.map { [try list.match($0)] } ?? list.trackers
      for tracker in trackers {
        say(
          [
            "tracker", tracker.id, tracker.path, tracker.vendorAndProduct, tracker.serial,
            tracker.product, tracker.bus.rawValue, tracker.protocolDescription,
          ].joined(separator: "|"))
        if let error = tracker.accessError { say("error: \(error)") }
      }
      say("count \(trackers.count)")
    } catch {
      say("error: \(error)")
      return 1
    }
    return 0
  }

  private static func watch(_ id: String, seconds: Double) -> Int32 {
    let source = HeadPoseSource()
    let session = TrackerSession(
      id == "auto" ? .automatic : .id(id), feeding: source, settings: settings
    ) { event in
      say("event \(describe(event)) at \(monotonic_nanoseconds())")
    }
    let start = monotonic_nanoseconds()
    signal(SIGTERM) { _ in Probe.isEnding.store(true, ordering: .relaxed) }
    session.start()
    say("started at \(start)")
    var last = source.pose(at: start)
    var printed: Int64 = 0
    while monotonic_nanoseconds() - start < Int64(seconds * 1e9),
      !isEnding.load(ordering: .relaxed)
    {
      let now = monotonic_nanoseconds()
      let pose = source.pose(at: now)
      let isMoving = Quaternion.angle(between: pose, last) > 1e-6
      if isMoving || now - printed > 100_000_000 { report(pose, now, source) }
      if isMoving || now - printed > 100_000_000 { printed = now }
      last = pose
      usleep(1000)
    }
    let before = monotonic_nanoseconds()
    session.stop()
    say("stopped in \(monotonic_nanoseconds() - before)")
    let status = source.status
    say("accepted \(status.acceptedCount) rejected \(status.rejectedCount) rate \(status.rate)")
    return 0
  }

  /// Prints each sample from the drivers: the time, then the numbers of a raw or a fused sample.
  private static func raw(_ id: String, seconds: Double) -> Int32 {
    let source = HeadPoseSource()
    let session = TrackerSession(
      id == "auto" ? .automatic : .id(id), feeding: source, settings: settings,
      onEvent: { say("event \(describe($0)) at \(monotonic_nanoseconds())") },
      record: { say(text($0)) })
    let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
    signal(SIGTERM) { _ in Probe.isEnding.store(true, ordering: .relaxed) }
    session.start()
    while monotonic_nanoseconds() < end, !isEnding.load(ordering: .relaxed) {
      let pose = source.pose(at: monotonic_nanoseconds())
      guard pose.isUsable, abs(pose.squaredNorm - 1) < 1e-9 else {
        say("error: pose \(pose)")
        break
      }
      usleep(2000)
    }
    session.stop()
    let status = source.status
    say("accepted \(status.acceptedCount) rejected \(status.rejectedCount) rate \(status.rate)")
    return 0
  }

  private static func text(_ measurement: TrackerMeasurement) -> String {
    func numbers(_ v: SIMD3<Double>?) -> String { v.map { "\($0.x) \($0.y) \($0.z)" } ?? "- - -" }
    if let raw = measurement.inertial {
      return "raw \(raw.time) \(numbers(raw.angularVelocity)) \(numbers(raw.specificForce))"
        + " \(numbers(raw.magneticField)) at \(monotonic_nanoseconds())"
    }
    let (head, q) = (measurement.head, measurement.head.headToWorld)
    return "head \(head.time) \(q.w) \(q.x) \(q.y) \(q.z) \(numbers(head.angularVelocity))"
      + " at \(monotonic_nanoseconds())"
  }

  private static func report(_ pose: Quaternion, _ time: Int64, _ source: HeadPoseSource) {
    let angles = YawPitchRoll(pose)
    let state = source.status.freshness.rawValue
    say("pose \(angles.yaw) \(angles.pitch) \(angles.roll) \(state) at \(time)")
  }

  private static func describe(_ event: TrackerEvent) -> String {
    switch event {
    case .waiting: "waiting"
    case .connected(let tracker): "connected \(tracker.id)"
    case .lost(let tracker): "lost \(tracker.id)"
    case .newFront: "new front"
    case .discontinuity: "discontinuity"
    case .recentered: "recentered"
    case .worn(let isWorn): "worn \(isWorn)"
    case .failed(let error): "failed \(error)"
    }
  }

  /// Returns the time of a pose request in nanoseconds, with a new sample for every fifteenth
  /// request.
  private static func poseCost() -> Int64 {
    let source = HeadPoseSource()
    let start = monotonic_nanoseconds()
    for index in 0..<150_000 {
      let time = start + Int64(index) * 666_667
      if index % 15 == 0 {
        let head = YawPitchRoll(yaw: Double(index) * 0.01).quaternion
        source.push(HeadSample(time: time, headToWorld: head, angularVelocity: SIMD3(0, 0, 0.2)))
      }
      _ = source.pose(at: time, now: time)
    }
    return (monotonic_nanoseconds() - start) / 150_000
  }

  private static func cost() -> Int32 {
    var best = Int64.max
    for _ in 0..<20 {
      let start = monotonic_nanoseconds()
      _ = TrackerList.current()
      best = min(best, monotonic_nanoseconds() - start)
    }
    say("pose \(poseCost())")
    say("cost \(best)")
    return 0
  }
}
