// SPDX-License-Identifier: Apache-2.0

extension Supplier {
  enum Outcome {
    case here(SuppliedSegment)
    /// The download was too slow. The segment should be fetched in this lower rendition instead.
    case abandoned(rendition: Int)
    /// The rule stopped the download of a replacement because it was too slow.
    case givenUp
    /// A seek or a stop cancelled the download.
    case ended
    case failed(LoadProblem)
  }

  // MARK: The next segment

  /// Fetches the next segment.
  ///
  /// After a failure that may pass, the segment is requested again from the same place, unless the
  /// presentation is in a folder. Further requests go to other places with the same content, and
  /// then to other renditions. If all of them fail, they are repeated after a wait, or the segment
  /// is given up (see `isWorthWaiting`).
  ///
  /// The queue fails immediately if no rendition can be decrypted, or if the server is too slow and
  /// at most 4 s of sound is buffered.
  mutating func fetchNext() {
    var wanted = usable(rule.next(situation(isWaiting: false)))
    var failures: [Int: Int] = [:]
    var moves: [Int: Int] = [:]
    // The first rendition that failed, and the first problem other than `.absent`; if there is no
    // such problem, the first one.
    var lost: (rendition: Int, problem: LoadProblem)?
    let began = now
    while goesOn {
      let problem: LoadProblem
      switch attempt(wanted) {
      case nil, .ended?, .givenUp?: return
      case .here(let segment)?:
        return take(segment, rendition: wanted, failures, replacing: lost)
      case .abandoned(let lower)?:
        wanted = usable(lower)
        continue
      case .failed(let reason)?: problem = reason
      }
      if problem.isTooSlow, situation(isWaiting: false).buffer <= 4 {
        return queue.fail("the download was too slow: \(problem)")
      }
      if case .encryption = problem { unusable.insert(wanted) }
      noteConnection(after: problem)
      failures[wanted, default: 0] += 1
      if isSpent(wanted, problem, failures), unusable.isEmpty,
        moves[wanted, default: 0] < presentation.places[wanted].count - 1,
        move(wanted, because: "\(problem)")
      {
        moves[wanted, default: 0] += 1
        failures[wanted] = nil
        continue
      }
      if case .absent? = lost?.problem, problem.isOfListedSegment { lost?.problem = problem }
      lost = lost ?? (wanted, problem)
      guard let next = afterFailure(problem, wanted, failures) else {
        if unusable.count == presentation.ladder.count { return queue.fail("\(problem)") }
        if isWorthWaiting(problem, since: began) {
          (failures, moves) = ([:], [:])
          wait(problem.isOfTheLine ? Self.lineWait : 2)
          continue
        }
        return giveUp(lost?.problem ?? problem)
      }
      if next == wanted {
        let longer = 0.25 * Double(1 << min(failures[wanted] ?? 0, 4))
        wait(problem.isOfTheLine ? Self.lineWait : longer)
      }
      wanted = next
    }
  }

  /// Returns the given rendition, or the best decryptable one if the given one cannot be decrypted.
  /// If no rendition can be decrypted, returns the given one.
  private func usable(_ rendition: Int) -> Int {
    let count = presentation.ladder.count
    let rendition = min(max(0, rendition), count - 1)
    return unusable.contains(rendition)
      ? (0..<count).last { !unusable.contains($0) } ?? rendition : rendition
  }

  /// Fetches the segment at the cursor. Returns nil if the playlist does not list the segment yet,
  /// or if the presentation ends at the cursor.
  private mutating func attempt(_ rendition: Int) -> Outcome? {
    let timeline: RenditionTimeline
    do throws(PresentationError) { timeline = try self.timeline(of: rendition) } catch {
      return Self.outcome(of: error)
    }
    self.rendition = self.rendition ?? rendition
    guard let cursor, let (segment, start) = timeline.segment(at: cursor) else {
      guard timeline.playlist.hasEnded else { return nil }
      if let cursor, longer(at: cursor) != nil {
        return .failed(.absent("its playlist ends there"))
      }
      // The end of this rendition is the end of the presentation.
      self.rendition = rendition
      return nil
    }
    if start > cursor + 0.25 {
      if timeline.playlist.hasEnded {
        return .failed(.absent("the playlist does not list the segment"))
      }
      leaveOut(start - cursor)
      return attempt(rendition)
    }
    if segment.isGap { return .failed(.absent("the playlist marks a gap there")) }
    return download(segment, rendition, in: timeline, replacing: nil)
  }

  private static func outcome(of error: PresentationError) -> Outcome {
    switch error {
    case .interrupted: .ended
    case .fetch(_, let reason): .failed(.playlist(reason, error.description))
    case .refused(let refusal): .failed(.playlist(.refused(refusal), error.description))
    case .playlist, .nothing: .failed(.address(error.description))
    }
  }

  /// Queues a fetched segment, and moves the cursor to its end.
  private mutating func take(
    _ segment: SuppliedSegment, rendition: Int, _ failures: [Int: Int],
    replacing lost: (rendition: Int, problem: LoadProblem)?
  ) {
    if let lost, lost.rendition != rendition {
      if offlineSince == nil { tell(lost.problem, of: lost.rendition) }
    } else if replaced == rendition {
      replaced = nil
    }
    guard let cursor, let (known, start) = timelines[rendition]?.segment(at: cursor) else { return }
    flushGaps()
    lineFailures = 0
    offlineSince = nil
    let before = self.rendition
    let hasChanged = before != nil && before != rendition && queue.snapshot.end != nil
    var queued = QueuedSegment(start: start, duration: known.duration, rendition: rendition)
    queued.supplied[rendition] = segment
    if hasChanged, let before { queued.reason = reason(failures, from: before, to: rendition) }
    let last = queue.snapshot.segments.last
    queue.append(queued)
    self.cursor = start + known.duration
    self.rendition = rendition
    if hasChanged, let last { overlap(last, in: rendition) }
  }

  /// Returns the reason for a change of rendition, for the listener.
  private func reason(_ failures: [Int: Int], from before: Int, to rendition: Int) -> String {
    guard failures.isEmpty else { return "a segment could not be loaded" }
    let ladder = presentation.ladder
    if ladder[before].isMultichannel != ladder[rendition].isMultichannel,
      let change = rule.lastChange
    {
      return change.reason.text
    }
    return rendition > before
      ? "the connection allows a higher bit rate" : "the connection requires a lower bit rate"
  }

  // MARK: Failures

  /// Warns that another rendition replaces this one. Warns only once while this rendition remains
  /// replaced.
  private mutating func tell(_ problem: LoadProblem, of rendition: Int) {
    guard replaced != rendition else { return }
    replaced = rendition
    let ladder = presentation.ladder
    let channels =
      ladder[rendition].channels.map { $0 == 1 ? "with 1 channel " : "with \($0) channels " } ?? ""
    let bits = Int((ladder[rendition].bitRate / 1000).rounded())
    let time = cursor.map { "from \(clockText($0)) on" } ?? "at the beginning"
    queue.warn(
      "the rendition \(channels)at \(bits) kbit/s cannot be used \(time) (\(problem)); "
        + "another rendition replaces it")
  }

  /// Whether not to request a rendition again for this segment, because it has failed too often or
  /// cannot be decrypted.
  private func isSpent(
    _ rendition: Int, _ problem: LoadProblem, _ failures: [Int: Int]
  ) -> Bool {
    let attempts = presentation.isRemote && problem.isPassing ? conditions.attempts : 1
    return unusable.contains(rendition) || failures[rendition, default: 0] >= attempts
  }

  /// Returns the rendition to request after a failure: the same one unless `isSpent`. Otherwise, of
  /// the renditions that have not failed and can be decrypted, returns the nearest lower one or, if
  /// there is none, the nearest higher one; nil if none is left.
  private func afterFailure(
    _ problem: LoadProblem, _ rendition: Int, _ failures: [Int: Int]
  ) -> Int? {
    if !isSpent(rendition, problem, failures) { return rendition }
    let others = presentation.ladder.indices.filter { failures[$0] == nil }
    let free = others.filter { !unusable.contains($0) }
    return free.last { $0 < rendition } ?? free.first
  }

  /// Whether to repeat the requests for a segment after all of them have failed.
  private func isWorthWaiting(_ problem: LoadProblem, since began: Double) -> Bool {
    guard presentation.isRemote, problem.isPassing else { return false }
    if case .content = problem { return false }
    let left = situation(isWaiting: false).buffer
    let patience =
      conditions.patience * (problem.isOfTheLine ? 3 : 1) / (lineFailures == 0 ? 1 : 3)
    return now - began < patience || left > 4
  }

  /// Replaces the segment at the cursor with a gap.
  ///
  /// The queue fails in these cases:
  /// - Neither the current playlist nor an ended one lists a segment at or after the cursor.
  /// - This is the second segment since the last fetched one that is given up because the server
  ///   gave no complete answer or was too slow.
  /// - The problem is not `absent`, and there are at least `mostGaps` consecutive gaps in an
  ///   on-demand presentation from a server.
  private mutating func giveUp(_ problem: LoadProblem) {
    if problem.isOfTheLine {
      // Perhaps only this segment is affected, so fail only at the second such segment, unless
      // another one is fetched in between.
      guard lineFailures == 0 else {
        return queue.fail("a segment could not be loaded from the server: \(problem)")
      }
      lineFailures += 1
    }
    let current = rendition.flatMap { timelines[$0] }
    guard let cursor,
      let (segment, start) = current?.segment(at: cursor)
        ?? longer(at: cursor).flatMap({ timelines[$0]?.segment(at: cursor) })
    else {
      return queue.fail("\(problem)")
    }
    let isListed = start <= cursor + 0.25
    skip(to: isListed ? start + segment.duration : start, "\(problem)")
    if case .absent = problem { return }
    if presentation.isRemote, gaps.count >= conditions.mostGaps {
      queue.fail(
        "\(gaps.count) consecutive segments are missing; the last one could not be loaded: "
          + "\(problem)")
    }
  }

  /// Moves the timelines back by the duration of the sound that a live server no longer has, so
  /// that playback continues without a gap.
  private mutating func leaveOut(_ seconds: Double) {
    for rendition in timelines.keys { timelines[rendition]?.move(by: -seconds) }
    let rounded = (seconds * 10).rounded() / 10
    queue.note("skipped \(rounded) s of sound that the server no longer has")
  }

  /// Adds a gap from the cursor to `time` and moves the cursor there.
  private mutating func skip(to time: Double, _ problem: String) {
    guard let cursor, time > cursor else { return }
    gaps.append(QueuedSegment(start: cursor, duration: time - cursor, problem: problem))
    self.cursor = time
    if isLive { flushGaps() }
  }

  mutating func flushGaps() {
    for gap in gaps { queue.append(gap) }
    gaps = []
  }

  private func wait(_ seconds: Double) {
    let end = now + seconds
    while goesOn, now < end { pause(min(0.1, max(0.01, end - now))) }
  }

  // MARK: Replacements in another rendition

  /// Fetches a queued segment again in another rendition. The new rendition is played if it arrives
  /// in time and the rule accepts it.
  mutating func fetch(replacement: Replacement) {
    let snapshot = queue.snapshot
    guard let queued = snapshot.segment(replacement.number),
      let timeline = try? timeline(of: usable(replacement.rendition)),
      let (segment, start) = timeline.segment(at: queued.start), abs(start - queued.start) < 0.1
    else {
      _ = rule.replaced(inTime: false, situation(isWaiting: false))
      return pause(0.05)
    }
    let rendition = usable(replacement.rendition)
    switch download(segment, rendition, in: timeline, replacing: queued.number) {
    case .here(let supplied):
      let read = queue.snapshot.read
      let inTime = read <= queued.end - 0.75
      if rule.replaced(inTime: inTime, situation(isWaiting: false)), inTime {
        queue.add(
          supplied, rendition: rendition, to: queued.number, isHeard: true,
          reason: reason([:], from: queued.rendition ?? rendition, to: rendition))
        if snapshot.segments.last?.number == queued.number { self.rendition = rendition }
      }
    case .failed:
      _ = rule.replaced(inTime: false, situation(isWaiting: false))
    case .abandoned, .givenUp, .ended: break
    }
  }

  /// After a change of rendition, also fetches the segment before the change in the new rendition,
  /// if there is time. The renditions can then be aligned and crossfaded.
  private mutating func overlap(_ last: QueuedSegment, in rendition: Int) {
    guard let before = last.rendition, before != rendition, let timeline = timelines[rendition],
      let (segment, start) = timeline.segment(at: last.start), abs(start - last.start) < 0.1,
      !segment.isGap
    else { return }
    let situation = situation(isWaiting: false)
    let bits = presentation.ladder[rendition].bitRate * segment.duration
    let seconds = rule.seconds(forBits: bits)
    let left = last.end - queue.snapshot.read - 0.75
    let ladder = presentation.ladder
    let isOther = ladder[rendition].isMultichannel != ladder[before].isMultichannel
    // If the treatment stays the same, an overlap matters less, so the reserve is usually larger.
    let reserve = isOther ? 4 : 0.6 * fullBuffer
    guard 1.5 * seconds < min(left, situation.buffer - reserve) else { return }
    if case .here(let supplied) = download(segment, rendition, in: timeline, replacing: last.number)
    {
      queue.add(supplied, rendition: rendition, to: last.number, isHeard: false)
    }
  }
}

extension TreatmentChange.Reason {
  /// The reason as a clause, for the listener.
  public var text: String {
    switch self {
    case .lineTooThin: "the connection is too slow"
    case .downloadTooSlow: "the download became too slow"
    case .recovered: "the connection has recovered"
    }
  }
}
