// SPDX-License-Identifier: Apache-2.0

import HLS

/// The conditions of a simulation.
package struct SimulationConditions: Sendable, Equatable {
  /// The duration of a segment, in s.
  var segmentSeconds = 3.84
  /// Whether the presentation is live: three segments exist at first, and one is added per segment
  /// duration. Otherwise all segments exist from the start.
  var isLive = true
  /// No new segment is requested while at least this much sound is buffered, in s.
  var bufferSeconds = 12.0
  /// The time from a request to the first byte of the response, in s.
  var roundTripSeconds = 0.05
  /// The duration of the simulation, from the opening of the presentation, in s.
  package var seconds = 600.0
  /// The sound that the player has decoded ahead, in s. Only later sound can be replaced.
  var decodedSeconds = 2.5
  /// The interval between playlist reloads, in s; nil if a segment is visible as soon as it exists.
  var reloadSeconds: Double?
  /// How much of the end of the last segment cannot play until the next segment arrives, in s.
  var unreadableSeconds = 0.0
  /// Whether, after a change of rendition, the last segment before the change is fetched in the new
  /// rendition too, if there is time. `SegmentSupply` does so.
  var overlaps = false

  package init() {}

  /// Returns conditions that approximate those of `SegmentSupply`. The buffer limit is 12 s (three
  /// target durations of 4 s) for a live presentation, and 30 s for any other.
  package static func supply(isLive: Bool) -> SimulationConditions {
    let supply = SegmentSupply.Conditions()
    var conditions = SimulationConditions()
    conditions.isLive = isLive
    conditions.bufferSeconds = isLive ? conditions.bufferSeconds : supply.bufferSeconds
    conditions.unreadableSeconds = supply.unreadable
    conditions.overlaps = true
    return conditions
  }
}

/// Plays a presentation over a simulated connection, with one download at a time. The bytes of a
/// stopped download are lost.
struct Simulator<Rule: AdaptationRule> {
  let trace: BandwidthTrace
  let ladder: Ladder
  let conditions: SimulationConditions
  var rule: Rule
  var time = 0.0
  var player: SimulatedPlayer
  var result = SimulationResult()

  init(
    trace: BandwidthTrace, ladder: Ladder, rule: Rule,
    conditions: SimulationConditions = .init()
  ) {
    precondition(!ladder.isEmpty, "the ladder must not be empty")
    self.trace = trace
    self.ladder = ladder
    self.rule = rule
    self.conditions = conditions
    player = SimulatedPlayer(
      segmentSeconds: conditions.segmentSeconds, endTime: conditions.seconds,
      unreadableSeconds: conditions.unreadableSeconds)
  }

  mutating func run() -> SimulationResult {
    // The multivariant playlist and one media playlist take one round trip each.
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
      return fetch(wish.rendition, replacing: wish.number)
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

  /// Returns the time from which a segment can be requested, in s.
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
      let rendition = ladder.indices.contains(wanted) ? wanted : 0
      switch download(rendition, replacing: number) {
      case .goOn:
        if number == nil { overlap() }
        return
      case .giveUp: return
      case .abandon(let lower): wanted = lower
      }
    }
  }

  /// After a change of rendition, fetches the last segment of the old rendition in the new one too,
  /// if there is time. The download occupies the connection, but its sound is not played. See
  /// `Supplier.overlap`.
  private mutating func overlap() {
    let number = player.segments.count - 2
    guard conditions.overlaps, time < conditions.seconds, number >= 0 else { return }
    let before = player.segments[number].rendition
    let rendition = player.segments[number + 1].rendition
    guard before != rendition else { return }
    let isOther = ladder[before].isMultichannel != ladder[rendition].isMultichannel
    let reserve = isOther ? 4 : 0.6 * conditions.bufferSeconds
    let needed = 1.5 * rule.seconds(forBits: ladder[rendition].bitRate * conditions.segmentSeconds)
    let decoded = player.started == nil ? 0 : conditions.decodedSeconds
    let left = Double(number + 1) * conditions.segmentSeconds - player.position - decoded - 0.75
    guard needed < min(left, player.buffer - reserve) else { return }
    _ = download(rendition, replacing: number, isOverlap: true)
  }

  /// Fetches one segment. Returns the rule's decision if the rule stopped the download, otherwise
  /// `.goOn`.
  private mutating func download(
    _ rendition: Int, replacing number: Int?, isOverlap: Bool = false
  ) -> DownloadCourse {
    let bits = ladder[rendition].bitRate * conditions.segmentSeconds
    let request = time
    result.requests.append(
      .init(time: time, segment: number ?? player.segments.count, rendition: rendition))
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
        of: progress, rendition: rendition, secondsLeft: number.map(secondsLeft),
        situation(isWaiting: false))
      if course != .goOn {
        finish(bits: sent, request, rendition, isPartial: true)
        return course
      }
    }
    guard sent >= bits - 0.001 else { return .goOn }
    finish(bits: bits, request, rendition, isPartial: false)
    if !isOverlap { place(rendition, replacing: number) }
    return .goOn
  }

  private func secondsLeft(_ number: Int) -> Double {
    guard player.started != nil else { return .infinity }
    let latest = Double(number + 1) * conditions.segmentSeconds - SimulatedPlayer.leastJoinSeconds
    return latest - player.position - conditions.decodedSeconds
  }

  private mutating func finish(bits: Double, _ request: Double, _ rendition: Int, isPartial: Bool) {
    result.fetchedBits += bits
    if isPartial { result.wastedBits += bits }
    let timing = SegmentTiming(
      end: time, bytes: Int(bits / 8), seconds: time - request,
      firstByteSeconds: conditions.roundTripSeconds, isPartial: isPartial)
    rule.record(timing, rendition: rendition)
  }

  private mutating func place(_ rendition: Int, replacing number: Int?) {
    guard let number else {
      player.append(rendition)
      if player.started == nil, rule.mayStart(situation(isWaiting: false)) {
        player.start(at: time)
      }
      return
    }
    let join = player.join(number, decodedSeconds: conditions.decodedSeconds)
    let isHeard = rule.replaced(inTime: join != nil, situation(isWaiting: false))
    if let join, isHeard {
      player.replace(number, by: rendition, from: join)
    } else {
      result.wastedBits += ladder[rendition].bitRate * conditions.segmentSeconds
    }
  }
}
