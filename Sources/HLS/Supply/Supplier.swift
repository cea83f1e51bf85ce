// SPDX-License-Identifier: Apache-2.0

/// The fetching thread's own part of a supply: what to do next, and the playlists.
struct Supplier {
  let presentation: OpenPresentation
  let queue: SegmentQueue
  let conditions: SegmentSupply.Conditions
  let clock: SegmentSupply.Clock
  let pause: SegmentSupply.Pause
  let observer: SegmentSupply.Observer?
  let isStopped: @Sendable () -> Bool
  var rule: any AdaptationRule
  var segments: SegmentLoader
  var timelines: [Int: TierTimeline] = [:]
  /// The tier of the newest item.
  var tier: Int?
  /// s, where the next item begins; nil before the first playlist is there.
  var cursor: Double?
  /// Gaps that are not told of before something comes after them.
  var gaps: [SupplyItem] = []
  /// Why the live playlist could not be loaded the last time.
  private var reloadProblem: String?
  /// Segments in sequence for which nobody answered.
  var lineFailures = 0
  /// Tiers that cannot be decrypted.
  var unusable: Set<Int> = []
  let opened: Double
  private var hasToldStart = false

  init(
    _ presentation: OpenPresentation, queue: SegmentQueue, conditions: SegmentSupply.Conditions,
    rule: any AdaptationRule, clock: @escaping SegmentSupply.Clock,
    pause: @escaping SegmentSupply.Pause, observer: SegmentSupply.Observer?,
    isStopped: @escaping @Sendable () -> Bool
  ) {
    self.presentation = presentation
    self.queue = queue
    self.conditions = conditions
    self.rule = rule
    self.clock = clock
    self.pause = pause
    self.observer = observer
    self.isStopped = isStopped
    segments = SegmentLoader(presentation.loader, fetcher: presentation.fetcher)
    opened = clock()
  }

  /// Whether what is being done is still wanted.
  var goesOn: Bool { !isStopped() && !queue.snapshot.isSeeking }

  var isLive: Bool { tier.flatMap { timelines[$0] }.map { !$0.playlist.hasEnded } ?? false }

  mutating func step() {
    if let time = queue.takeSeek() {
      cursor = time
      gaps = []
      hasToldStart = false
    }
    guard queue.failure == nil, !queue.hasEnded else { return pause(0.05) }
    if isLive, let tier { reloadIfDue(tier) }
    let isWaiting = !hasNext || situation(isWaiting: false).buffer >= fullBuffer
    if let wish = rule.replacement(situation(isWaiting: isWaiting), queue: replaceable) {
      fetch(replacement: wish)
    } else if !isWaiting || cursor == nil {
      fetchNext()
    } else {
      endIfOver()
      pause(0.05)
    }
    tellStart()
  }

  /// s that are fetched ahead.
  var fullBuffer: Double {
    guard isLive, let tier, let playlist = timelines[tier]?.playlist else {
      return conditions.bufferSeconds
    }
    return conditions.liveTargetDurations * max(1, playlist.targetDuration)
  }

  /// Whether a segment is known that comes next.
  private var hasNext: Bool {
    guard let cursor, let tier, let timeline = timelines[tier] else { return true }
    return timeline.segment(at: cursor) != nil
  }

  private mutating func endIfOver() {
    guard let tier, let timeline = timelines[tier], !hasNext else { return }
    if timeline.playlist.hasEnded {
      flushGaps()
      queue.setEnded()
      return
    }
    let still = timeline.follower.staleness(at: clock())
    if still > conditions.patience, situation(isWaiting: true).buffer <= 0.01 {
      queue.fail(reloadProblem ?? "the live playlist has not changed for \(Int(still)) s")
    }
  }

  /// Tells when enough is there to begin; also asked while more comes.
  mutating func tellStart() {
    guard !hasToldStart, queue.snapshot.end != nil else { return }
    if rule.mayStart(situation(isWaiting: false)) {
      hasToldStart = true
      queue.setMayStart()
    }
  }

  // MARK: What the rule is told

  func situation(isWaiting: Bool) -> PlaySituation {
    let snapshot = queue.snapshot
    let end = snapshot.end ?? cursor ?? 0
    let now = clock()
    let timeline = tier.flatMap { timelines[$0] }
    let usual = timeline.map { timeline in
      timeline.playlist.segments.first?.duration ?? timeline.playlist.targetDuration
    }
    let kept = snapshot.mayStart ? conditions.unreadable : 0
    return PlaySituation(
      now: now, elapsed: now - opened, buffer: max(0, end - snapshot.heard - kept),
      segmentSeconds: max(usual ?? 4, 0.5), hasStarted: snapshot.mayStart, isWaiting: isWaiting,
      liveDistance: timeline.flatMap { $0.playlist.hasEnded ? nil : $0.end - snapshot.heard })
  }

  /// What could be fetched again in another tier.
  private var replaceable: [QueuedSegment] {
    let snapshot = queue.snapshot
    return snapshot.items.compactMap { item in
      guard let tier = item.tier, item.start + item.duration > snapshot.read else { return nil }
      return QueuedSegment(number: item.id, tier: tier, secondsLeft: item.start - snapshot.read)
    }
  }

  // MARK: Playlists

  /// The playlist of a tier, loaded where it is not there yet.
  mutating func timeline(of tier: Int) throws(PresentationError) -> TierTimeline {
    if let known = timelines[tier] {
      let isBehind = !known.playlist.hasEnded && known.segment(at: cursor ?? 0) == nil
      guard isBehind, tier != self.tier else { return known }
      try reload(tier)
      if let own = self.tier.flatMap({ timelines[$0] }) {
        let now = clock()
        timelines[tier]?.align(to: own, at: now)
      }
      return timelines[tier] ?? known
    }
    let place = presentation.places[tier]
    var loaded = place.loaded
    if loaded == nil { loaded = try load(place.address, nil) }
    guard let loaded, case .media(var playlist) = loaded.playlist else {
      throw .nothing(
        address: place.address.description, reason: "a playlist of segments is expected there")
    }
    playlist.start = playlist.start ?? presentation.start
    let reference = self.tier.flatMap { timelines[$0] } ?? timelines.values.first
    let skipped = playlist.hasEnded ? 0 : Self.offset(ofStart: playlist)
    var made = TierTimeline(playlist, address: loaded.address, origin: -skipped, at: clock())
    if let reference { made.align(to: reference, at: clock()) }
    timelines[tier] = made
    if playlist.hasEnded, queue.duration == nil {
      queue.setDuration(made.end, start: Self.offset(ofStart: playlist))
    }
    timelines[tier]?.validator = loaded.validator
    cursor = cursor ?? 0
    return timelines[tier] ?? made
  }

  /// s from the beginning of a playlist to where playing should begin.
  private static func offset(ofStart playlist: MediaPlaylist) -> Double {
    let start = PlaylistFollower(playlist, at: 0).start
    let count = start.sequence - playlist.mediaSequence
    return playlist.segments.prefix(count).reduce(0) { $0 + $1.duration } + start.skipped
  }

  private func load(
    _ address: ResourceAddress, _ validator: FetchValidator?
  ) throws(PresentationError) -> PlaylistLoader.Loaded? {
    try presentation.loader.load(
      address, variables: presentation.variables, validator: validator, goesOn: { goesOn })
  }

  private mutating func reload(_ tier: Int) throws(PresentationError) {
    guard var timeline = timelines[tier] else { return }
    guard let loaded = try load(timeline.address, timeline.validator) else {
      timeline.take(nil, at: clock())
      timelines[tier] = timeline
      return
    }
    guard case .media(let playlist) = loaded.playlist else {
      throw .nothing(
        address: timeline.address.description, reason: "a playlist of segments is expected there")
    }
    timeline.take(playlist, at: clock())
    timeline.validator = loaded.validator
    timelines[tier] = timeline
  }

  private mutating func reloadIfDue(_ tier: Int) {
    guard let due = timelines[tier]?.follower.nextLoad, clock() >= due else { return }
    do throws(PresentationError) {
      try reload(tier)
      reloadProblem = nil
    } catch {
      let now = clock()
      timelines[tier]?.fail(at: now)
      guard error != .interrupted else { return }
      // Once, until it can be had again.
      if reloadProblem == nil { queue.note("\(error); it is asked for again") }
      reloadProblem = error.description
    }
  }
}
