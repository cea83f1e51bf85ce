// SPDX-License-Identifier: Apache-2.0

extension Supplier {
  enum Outcome {
    case here(SuppliedSegment)
    /// It is to be fetched in a lower tier.
    case abandoned(tier: Int)
    /// It was a replacement that would not have come in time.
    case givenUp
    /// Something else is wanted now.
    case ended
    case failed(LoadProblem)
  }

  // MARK: The next one

  mutating func fetchNext() {
    var wanted = usable(rule.next(situation(isWaiting: false)))
    var failures: [Int: Int] = [:]
    let began = clock()
    while goesOn {
      let problem: LoadProblem
      switch attempt(wanted) {
      case nil, .ended?, .givenUp?: return
      case .here(let segment)?: return take(segment, tier: wanted, failures)
      case .abandoned(let lower)?:
        wanted = usable(lower)
        continue
      case .failed(let reason)?: problem = reason
      }
      if case .encryption = problem { unusable.insert(wanted) }
      failures[wanted, default: 0] += 1
      guard let next = afterFailure(problem, wanted, failures) else {
        if unusable.count == presentation.ladder.tiers.count { return queue.fail("\(problem)") }
        if isWorthWaiting(problem, since: began) {
          failures = [:]
          wait(2)
          continue
        }
        return giveUp(problem)
      }
      if next == wanted {
        wait(0.25 * Double(1 << min(failures[wanted] ?? 0, 4)))
      } else {
        tell(problem)
      }
      wanted = next
    }
  }

  private func usable(_ tier: Int) -> Int {
    let count = presentation.ladder.tiers.count
    let tier = min(max(0, tier), count - 1)
    return unusable.contains(tier) ? (0..<count).last { !unusable.contains($0) } ?? tier : tier
  }

  /// Fetches the segment at the cursor in a tier; nil where there is none yet.
  private mutating func attempt(_ tier: Int) -> Outcome? {
    let timeline: TierTimeline
    do throws(PresentationError) { timeline = try self.timeline(of: tier) } catch {
      return Self.outcome(of: error)
    }
    self.tier = self.tier ?? tier
    guard let cursor, let (segment, start) = timeline.segment(at: cursor) else {
      // Its end is the end of all.
      if self.tier != tier, timeline.playlist.hasEnded { self.tier = tier }
      return nil
    }
    if start > cursor + 0.25 {
      if timeline.playlist.hasEnded {
        skip(to: start, "the server no longer has it")
      } else {
        leaveOut(start - cursor)
      }
      return attempt(tier)
    }
    if segment.isGap {
      skip(to: start + segment.duration, "the presentation has a gap there")
      return nil
    }
    return download(segment, tier, in: timeline, replacing: nil)
  }

  private static func outcome(of error: PresentationError) -> Outcome {
    switch error {
    case .interrupted: .ended
    case .fetch(_, let reason): .failed(.playlist(reason, error.description))
    case .refused(let refusal): .failed(.playlist(.refused(refusal), error.description))
    case .playlist, .nothing: .failed(.address(error.description))
    }
  }

  private mutating func take(_ segment: SuppliedSegment, tier: Int, _ failures: [Int: Int]) {
    guard let cursor, let (known, start) = timelines[tier]?.segment(at: cursor) else { return }
    flushGaps()
    lineFailures = 0
    let before = self.tier
    let hasChanged = before != nil && before != tier && queue.snapshot.end != nil
    var item = SupplyItem(id: 0, start: start, duration: known.duration, tier: tier)
    item.versions[tier] = segment
    if hasChanged, let before { item.reason = reason(failures, from: before, to: tier) }
    let last = queue.snapshot.items.last
    queue.append(item)
    self.cursor = start + known.duration
    self.tier = tier
    if hasChanged, let last { overlap(last, in: tier) }
  }

  private func reason(_ failures: [Int: Int], from before: Int, to tier: Int) -> String {
    guard failures.isEmpty else { return "a segment could not be had" }
    let tiers = presentation.ladder.tiers
    if tiers[before].isMultichannel != tiers[tier].isMultichannel,
      let change = (rule as? RenditionChoice)?.lastChange
    {
      return change.reason.text
    }
    return tier > before ? "the line carries more" : "the line carries less"
  }

  // MARK: Failures

  /// Tells why another tier is asked.
  private func tell(_ problem: LoadProblem) {
    guard presentation.isRemote else { return }
    let place = cursor.map { " at \(clockText($0))" } ?? ""
    queue.note("the segment\(place) cannot be had in this rendition: \(problem)")
  }

  /// The tier to be asked next; nil where none is left.
  private func afterFailure(
    _ problem: LoadProblem, _ tier: Int, _ failures: [Int: Int]
  ) -> Int? {
    let attempts = presentation.isRemote && problem.isPassing ? conditions.attempts : 1
    if !unusable.contains(tier), failures[tier, default: 0] < attempts { return tier }
    let others = presentation.ladder.tiers.indices.filter { failures[$0] == nil }
    let free = others.filter { !unusable.contains($0) }
    return free.last { $0 < tier } ?? free.first
  }

  /// Whether the server may come back before the listener has lost patience.
  private func isWorthWaiting(_ problem: LoadProblem, since began: Double) -> Bool {
    guard presentation.isRemote, problem.isPassing else { return false }
    if case .content = problem { return false }
    let left = situation(isWaiting: false).buffer
    let patience = conditions.patience / (lineFailures == 0 ? 1 : 3)
    return clock() - began < patience || left > 4
  }

  private mutating func giveUp(_ problem: LoadProblem) {
    if problem.isOfTheLine {
      // It may be only this one.
      guard lineFailures == 0 else {
        return queue.fail("the server does not answer any more: \(problem)")
      }
      lineFailures += 1
    }
    guard let cursor, let tier, let (segment, start) = timelines[tier]?.segment(at: cursor) else {
      return queue.fail("\(problem)")
    }
    skip(to: start + segment.duration, "\(problem)")
    if gaps.count >= conditions.mostGaps {
      queue.fail("\(gaps.count) segments in sequence cannot be had; the last one: \(problem)")
    }
  }

  /// What a live server no longer has is not waited through: what it has is heard next.
  private mutating func leaveOut(_ seconds: Double) {
    for tier in timelines.keys { timelines[tier]?.move(by: -seconds) }
    queue.note("\(Int(seconds.rounded())) s are left out: the server no longer has them")
  }

  /// Leaves out what is up to there.
  private mutating func skip(to time: Double, _ problem: String) {
    guard let cursor, time > cursor else { return }
    gaps.append(
      SupplyItem(id: 0, start: cursor, duration: time - cursor, tier: nil, problem: problem))
    self.cursor = time
    if isLive { flushGaps() }
  }

  mutating func flushGaps() {
    for gap in gaps { queue.append(gap) }
    gaps = []
  }

  private func wait(_ seconds: Double) {
    let end = clock() + seconds
    while goesOn, clock() < end { pause(min(0.1, max(0.01, end - clock()))) }
  }

  // MARK: Again in another tier

  mutating func fetch(replacement: Replacement) {
    let snapshot = queue.snapshot
    guard let item = snapshot.items.first(where: { $0.id == replacement.number }),
      let timeline = try? timeline(of: usable(replacement.tier)),
      let (segment, start) = timeline.segment(at: item.start), abs(start - item.start) < 0.1
    else {
      _ = rule.replaced(inTime: false, situation(isWaiting: false))
      return pause(0.05)
    }
    let tier = usable(replacement.tier)
    switch download(segment, tier, in: timeline, replacing: item.id) {
    case .here(let supplied):
      let read = queue.snapshot.read
      let inTime = read <= item.start + item.duration - 0.75
      if rule.replaced(inTime: inTime, situation(isWaiting: false)), inTime {
        queue.add(
          supplied, tier: tier, to: item.id, isHeard: true,
          reason: reason([:], from: item.tier ?? tier, to: tier))
        if snapshot.items.last?.id == item.id { self.tier = tier }
      }
    case .failed:
      _ = rule.replaced(inTime: false, situation(isWaiting: false))
    case .abandoned, .givenUp, .ended: break
    }
  }

  /// Fetches the last item in the new tier too, so that the two can be aligned and faded over, where
  /// there is time for it.
  private mutating func overlap(
    _ last: (id: Int, tier: Int?, start: Double, duration: Double), in tier: Int
  ) {
    guard last.tier != nil, last.tier != tier, let timeline = timelines[tier],
      let (segment, start) = timeline.segment(at: last.start), abs(start - last.start) < 0.1,
      !segment.isGap
    else { return }
    let situation = situation(isWaiting: false)
    let bits = presentation.ladder.tiers[tier].bitRate * segment.duration
    let seconds = (rule as? RenditionChoice)?.seconds(forBits: bits) ?? 0.1
    let left = last.start + last.duration - queue.snapshot.read - 0.75
    let tiers = presentation.ladder.tiers
    let isOther = tiers[tier].isMultichannel != tiers[last.tier ?? tier].isMultichannel
    // Within a treatment it is worth less.
    let reserve = isOther ? 4 : 0.6 * fullBuffer
    guard 1.5 * seconds < min(left, situation.buffer - reserve) else { return }
    if case .here(let supplied) = download(segment, tier, in: timeline, replacing: last.id) {
      queue.add(supplied, tier: tier, to: last.id, isHeard: false)
    }
  }

  // MARK: One body

  private mutating func download(
    _ segment: MediaSegment, _ tier: Int, in timeline: TierTimeline, replacing id: Int?
  ) -> Outcome {
    let now = clock()
    let bits = presentation.ladder.tiers[tier].bitRate * segment.duration
    var progress = DownloadProgress(requestTime: now, totalBytes: bits / 8)
    var (rule, segments) = (rule, segments)
    var course = DownloadCourse.goOn
    var isSilent = false
    var latest = FetchTiming()
    var newest = (bytes: 0, time: now)
    defer { (self.rule, self.segments) = (rule, segments) }
    do throws(LoadProblem) {
      let (supplied, timing) = try segments.load(segment, in: timeline.address) { timing in
        guard goesOn else { return false }
        tellStart()
        latest = timing
        let now = clock()
        if timing.bytes > newest.bytes { newest = (timing.bytes, now) }
        if let expected = timing.expected { progress.totalBytes = Double(expected) }
        if timing.firstByte != nil { progress.received(Double(timing.bytes), at: now) }
        course = rule.course(
          of: progress, tier: tier, secondsLeft: id.flatMap { secondsLeft($0) },
          situation(isWaiting: false))
        isSilent = now - newest.time > conditions.silence
        return course == .goOn && !isSilent
      }
      rule.record(SegmentTiming(timing, end: clock()), tier: tier)
      observer?(
        SegmentSupply.Arrival(
          segment: segment, playlist: timeline.playlist, supplied: supplied, tier: tier))
      return .here(supplied)
    } catch {
      guard error.isOwn else { return .failed(error) }
      rule.record(SegmentTiming(latest, end: clock(), isPartial: true), tier: tier)
      switch course {
      case .abandon(let lower): return .abandoned(tier: lower)
      case .giveUp: return .givenUp
      case .goOn:
        return isSilent
          ? .failed(.fetch(.timedOut(seconds: conditions.silence))) : .ended
      }
    }
  }

  /// s until a replacement has to be there.
  private func secondsLeft(_ id: Int) -> Double? {
    let snapshot = queue.snapshot
    guard let item = snapshot.items.first(where: { $0.id == id }) else { return 0 }
    guard snapshot.mayStart else { return .infinity }
    return item.start + item.duration - 0.75 - snapshot.read
  }
}

extension SegmentTiming {
  fileprivate init(_ timing: FetchTiming, end: Double, isPartial: Bool = false) {
    self.init(
      end: end, bytes: timing.bytes, seconds: timing.seconds,
      firstByteSeconds: min(timing.firstByte ?? timing.seconds, timing.seconds),
      isPartial: isPartial)
  }
}

extension TreatmentChange.Reason {
  /// As the listener is told.
  public var text: String {
    switch self {
    case .lineTooThin: "the line is too thin"
    case .downloadTooSlow: "the download became too slow"
    case .recovered: "the line has recovered"
    }
  }
}

extension RenditionChoice {
  /// s that so many bits are expected to need.
  func seconds(forBits bits: Double) -> Double {
    estimate.map { history.firstByteSeconds + bits / $0 } ?? .infinity
  }
}
