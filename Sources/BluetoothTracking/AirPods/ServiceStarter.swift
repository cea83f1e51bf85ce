// SPDX-License-Identifier: Apache-2.0

/// Finds, starts and restarts the motion service of AirPods.
///
/// IDs are tried in this order: the ID in the earphones' description (once it has arrived), the
/// remembered ID, the known IDs. IDs in `EarphoneMemory.avoided` are not tried. Times are in
/// nanoseconds unless a name states another unit.
struct ServiceStarter {
  private enum Phase: Equatable {
    /// The starter waits for a description until this time.
    case describing(until: Int64)
    /// The next start follows at this time or later.
    case pausing(until: Int64)
    /// No report has arrived since the start. The time is that of the start, or of the latest step
    /// at which no bud was worn.
    case starting(at: Int64)
    case streaming
    /// No ID is left to try. The starter waits for a description.
    case exhausted
  }

  struct Step: Equatable {
    var packets: [[UInt8]] = []
    var isStart = false
    var needsReopening = false
  }

  /// IDs of the motion service, in the order in which they are tried: 16 for Pro 2 and Pro 3, 15
  /// for model A3441, 6 for Max 2, and 14 for Pro 2 with firmware from 2024.
  static let knownServices: [UInt64] = [16, 15, 6, 14]
  static let intervalMicroseconds: UInt32 = 20_000

  private static let descriptionTime: Int64 = 1_200_000_000
  private static let remembered: Int64 = 300_000_000
  /// A start has failed if no report follows within this time.
  private static let silentStart: Int64 = 1_800_000_000
  private static let startSpacing: Int64 = 2_000_000_000
  private static let silentStream: Int64 = 3_000_000_000
  private static let longSilence: Int64 = 8_000_000_000
  private static let deadLink: Int64 = 12_000_000_000
  /// If the link breaks within this time after a start and before a report arrives, the start is
  /// assumed to be the cause.
  private static let crash: Int64 = 5_000_000_000
  private static let slowPause: Int64 = 400_000_000
  private static let silentPause: Int64 = 300_000_000

  private let isRemembered: Bool
  private let avoided: Set<UInt64>
  private var phase = Phase.describing(until: 0)
  private var candidates: [UInt64]
  private var service: UInt64?
  /// The service that the earphones described while `service` was nil. It gets a second start if
  /// its first start fails. Any failed start sets this property to nil, unless a report has arrived
  /// on the link.
  private var described: UInt64?
  private var sequence: UInt64 = 0
  private var openedAt: Int64 = 0
  private var startedAt: Int64?
  private var reportedAt: Int64?
  private var restarts = 0
  private var pace = Pace()

  /// Data for detecting a slow stream. A slow stream is restarted at most once per link.
  private struct Pace {
    var last: UInt64?
    var slowSteps = 0
    var isJudged = false
  }

  init(memory: EarphoneMemory) {
    let first = memory.service.map { [$0] } ?? []
    candidates = (first + Self.knownServices.filter { !first.contains($0) })
      .filter { !memory.avoided.contains($0) }
    avoided = memory.avoided
    isRemembered = !first.isEmpty
  }

  mutating func open(now: Int64) {
    openedAt = now
    phase = .describing(until: now + (isRemembered ? Self.remembered : Self.descriptionTime))
  }

  mutating func describe(_ service: UInt64) {
    guard !avoided.contains(service) else { return }
    if self.service == nil { described = service }
    candidates = [service] + candidates.filter { $0 != service && $0 != self.service }
    switch phase {
    case .describing, .exhausted: phase = .pausing(until: 0)
    case .pausing, .starting, .streaming: break
    }
  }

  /// Ends the wait for a description if this service is the first to try.
  mutating func ready(_ service: UInt64, now: Int64) {
    if case .describing = phase, service == candidates.first { phase = .pausing(until: now) }
  }

  /// Records a report from a service. `microseconds` is the report's time on the sensor's clock.
  mutating func received(_ service: UInt64, _ microseconds: UInt64, now: Int64) {
    self.service = service
    reportedAt = now
    restarts = 0
    if phase != .streaming { phase = .streaming }
    if let last = pace.last, microseconds > last, !pace.isJudged {
      pace.slowSteps = microseconds - last > 300_000 ? pace.slowSteps + 1 : 0
    }
    pace.last = microseconds
  }

  /// Returns the packets to send now, whether they start the service, and whether the link must be
  /// reopened.
  ///
  /// - Parameter isWorn: whether a bud may be in an ear. If not, silence is not a fault.
  mutating func advance(now: Int64, isWorn: Bool) -> Step {
    if !isWorn { excuseSilence(now) }
    if now - max(reportedAt ?? openedAt, openedAt) > Self.deadLink {
      return Step(packets: stop(), needsReopening: true)
    }
    switch phase {
    case .describing(let until), .pausing(let until):
      let isSpaced = startedAt.map { now - $0 >= Self.startSpacing } ?? true
      return now >= until && isSpaced ? start(now) : Step()
    case .starting(let since):
      return now - since > Self.silentStart ? tryNext(now) : Step()
    case .streaming: return watch(now)
    case .exhausted: return Step()
    }
  }

  private mutating func excuseSilence(_ now: Int64) {
    openedAt = now
    if reportedAt != nil { reportedAt = now }
    if case .starting = phase { phase = .starting(at: now) }
  }

  /// Returns the service whose start is assumed to have broken the link at `now`; nil if there is
  /// none.
  func crashed(now: Int64) -> UInt64? {
    guard let startedAt, now - startedAt < Self.crash, (reportedAt ?? .min) < startedAt else {
      return nil
    }
    return service
  }

  /// Returns the packet that stops the service; none if there is no service to stop.
  mutating func close() -> [[UInt8]] { stop() }

  private mutating func start(_ now: Int64) -> Step {
    guard let next = service ?? candidates.first else {
      phase = .exhausted
      return Step()
    }
    candidates.removeAll { $0 == next }
    service = next
    startedAt = now
    phase = .starting(at: now)
    let isJudged = pace.isJudged
    pace = Pace()
    pace.isJudged = isJudged
    return Step(packets: [request(next, Self.intervalMicroseconds)], isStart: true)
  }

  private mutating func tryNext(_ now: Int64) -> Step {
    let packets = stop()
    // A service that has streamed on this link is the right one and is kept.
    if reportedAt == nil {
      // The described service may need a second start before it reports.
      if let repeated = described, repeated == service { candidates.insert(repeated, at: 0) }
      described = nil
      service = nil
    }
    phase = .pausing(until: now)
    return Step(packets: packets)
  }

  private mutating func watch(_ now: Int64) -> Step {
    if pace.slowSteps >= 2, !pace.isJudged {
      // After the first start, the report rate can be only 1.6 Hz; a second start corrects this.
      pace.isJudged = true
      phase = .pausing(until: now + Self.slowPause)
      return Step(packets: stop())
    }
    let silence = now - (reportedAt ?? now)
    if silence > Self.longSilence, restarts < 2 {
      restarts = 2
      phase = .pausing(until: now + Self.silentPause)
      return Step(packets: stop())
    }
    if silence > Self.silentStream, restarts < 1 {
      restarts = 1
      guard let service, startedAt.map({ now - $0 >= Self.startSpacing }) ?? true else {
        return Step()
      }
      startedAt = now
      return Step(packets: [request(service, Self.intervalMicroseconds)], isStart: true)
    }
    return Step()
  }

  private mutating func stop() -> [[UInt8]] {
    guard let service, startedAt != nil else { return [] }
    return [request(service, 0)]
  }

  private mutating func request(_ service: UInt64, _ microseconds: UInt32) -> [UInt8] {
    sequence += 1
    return SensorFrame.request(
      service: service, intervalMicroseconds: microseconds, sequence: sequence)
  }
}
