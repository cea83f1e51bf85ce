// SPDX-License-Identifier: Apache-2.0

/// The world in which rules are compared.
public struct SimulationConditions: Sendable, Equatable {
  /// s of a segment.
  public var segmentSeconds = 3.84
  /// Three segments are there at first, and one more comes with every segment's time; otherwise
  /// all are there.
  public var isLive = true
  /// s; a segment is asked for while less than this is buffered. Three target durations.
  public var bufferSeconds = 12.0
  /// s from a request to its first byte.
  public var roundTripSeconds = 0.05
  /// s from opening to the end.
  public var seconds = 600.0
  /// s that the player has decoded ahead; another version of a segment can take over only behind.
  public var decodedSeconds = 2.5
  /// s between looks at the live playlist; nil: a segment is seen as soon as it exists.
  public var reloadSeconds: Double?

  public init() {}
}

/// Plays a presentation over a line that exists only as numbers. One thing is fetched at a time;
/// bytes of an abandoned download are lost.
public struct Simulator<Rule: AdaptationRule> {
  let trace: BandwidthTrace
  let ladder: Ladder
  let conditions: SimulationConditions
  var rule: Rule
  var time = 0.0
  var player: SimulatedPlayer
  var result = SimulationResult()

  public init(
    trace: BandwidthTrace, ladder: Ladder, rule: Rule,
    conditions: SimulationConditions = .init()
  ) {
    precondition(!ladder.tiers.isEmpty, "there is something to fetch")
    self.trace = trace
    self.ladder = ladder
    self.rule = rule
    self.conditions = conditions
    player = SimulatedPlayer(
      segmentSeconds: conditions.segmentSeconds, endTime: conditions.seconds)
  }

  public mutating func run() -> SimulationResult {
    // The two playlists.
    advance(to: 2 * conditions.roundTripSeconds)
    while time < conditions.seconds { step() }
    advance(to: conditions.seconds)
    result.heard = player.heard
    result.startSeconds = player.started
    return result
  }

  private mutating func step() {
    let available = availability(of: player.segments.count)
    let isWaiting = available > time + 1e-9 || player.buffer >= conditions.bufferSeconds
    let queue = player.queue(decodedSeconds: conditions.decodedSeconds)
    if let wish = rule.replacement(situation(isWaiting: isWaiting), queue: queue),
      player.segments.indices.contains(wish.number)
    {
      return fetch(wish.tier, replacing: wish.number)
    }
    guard isWaiting else {
      return fetch(rule.next(situation(isWaiting: false)), replacing: nil)
    }
    var wake = time + 0.5
    if available > time { wake = min(wake, available) }
    let surplus = player.buffer - conditions.bufferSeconds
    if surplus > 0 { wake = min(wake, time + surplus) }
    advance(to: max(wake, time + 0.01))
  }

  /// When a segment can be seen by the player.
  private func availability(of number: Int) -> Double {
    guard conditions.isLive else { return 0 }
    let exists = max(0, Double(number - 2) * conditions.segmentSeconds)
    guard let reload = conditions.reloadSeconds else { return exists }
    return (exists / reload - 1e-9).rounded(.up) * reload
  }

  private func situation(isWaiting: Bool) -> PlaySituation {
    var distance: Double?
    if conditions.isLive {
      let edge = 3 + (time / conditions.segmentSeconds).rounded(.down)
      distance = edge * conditions.segmentSeconds - player.position
    }
    return PlaySituation(
      now: time, elapsed: time, buffer: player.buffer,
      segmentSeconds: conditions.segmentSeconds, hasStarted: player.started != nil,
      isWaiting: isWaiting, liveDistance: distance)
  }

  private mutating func advance(to end: Double) {
    time = end
    player.advance(to: end)
    if player.started == nil, rule.mayStart(situation(isWaiting: false)) { player.start(at: time) }
    result.buffer.append((time, player.buffer))
  }

  private mutating func fetch(_ wanted: Int, replacing number: Int?) {
    var wanted = wanted
    while time < conditions.seconds {
      let tier = ladder.tiers.indices.contains(wanted) ? wanted : 0
      switch download(tier, replacing: number) {
      case .goOn: return
      case .giveUp: return
      case .abandon(let lower): wanted = lower
      }
    }
  }

  /// Fetches one body; tells how it ended.
  private mutating func download(_ tier: Int, replacing number: Int?) -> DownloadCourse {
    let bits = ladder.tiers[tier].bitRate * conditions.segmentSeconds
    let request = time
    result.requests.append(.init(time: time, segment: number ?? player.segments.count, tier: tier))
    var progress = DownloadProgress(requestTime: request, totalBytes: bits / 8)
    advance(to: time + conditions.roundTripSeconds)
    progress.received(0, at: time)
    var sent = 0.0
    while time < conditions.seconds {
      let tick = ((time / 0.1 + 1e-6).rounded(.down) + 1) * 0.1
      let reached = trace.send(bits - sent, from: time, until: tick)
      sent += reached.bits
      advance(to: reached.time)
      progress.received(sent / 8, at: time)
      if sent >= bits - 0.001 { break }
      let course = rule.course(
        of: progress, tier: tier, secondsLeft: number.map(secondsLeft), situation(isWaiting: false))
      if course != .goOn {
        finish(bits: sent, request, tier, isPartial: true)
        return course
      }
    }
    guard sent >= bits - 0.001 else { return .goOn }
    finish(bits: bits, request, tier, isPartial: false)
    place(tier, replacing: number)
    return .goOn
  }

  private func secondsLeft(_ number: Int) -> Double {
    guard player.started != nil else { return .infinity }
    let latest = Double(number + 1) * conditions.segmentSeconds - SimulatedPlayer.leastJoinSeconds
    return latest - player.position - conditions.decodedSeconds
  }

  private mutating func finish(bits: Double, _ request: Double, _ tier: Int, isPartial: Bool) {
    result.fetchedBits += bits
    if isPartial { result.wastedBits += bits }
    let timing = SegmentTiming(
      end: time, bytes: Int(bits / 8), seconds: time - request,
      firstByteSeconds: conditions.roundTripSeconds, isPartial: isPartial)
    rule.record(timing, tier: tier)
  }

  private mutating func place(_ tier: Int, replacing number: Int?) {
    guard let number else {
      player.append(tier)
      if player.started == nil, rule.mayStart(situation(isWaiting: false)) {
        player.start(at: time)
      }
      return
    }
    let join = player.join(number, decodedSeconds: conditions.decodedSeconds)
    let isHeard = rule.replaced(inTime: join != nil, situation(isWaiting: false))
    if let join, isHeard {
      player.replace(number, by: tier, from: join)
    } else {
      result.wastedBits += ladder.tiers[tier].bitRate * conditions.segmentSeconds
    }
  }
}
