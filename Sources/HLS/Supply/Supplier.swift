// SPDX-License-Identifier: Apache-2.0

/// The fetching thread's logic and state: what to fetch next, and when to update playlists.
struct Supplier {
  let supply: SegmentSupply
  let isStopped: @Sendable () -> Bool
  var rule: any AdaptationRule
  var segments: SegmentLoader
  var timelines: [Int: RenditionTimeline] = [:]
  /// The current rendition: usually that of the last queued segment. Before a segment is queued,
  /// the first one whose playlist was loaded to fetch a segment; nil before that.
  var rendition: Int?
  /// Position from which to fetch next, in s of presentation time: at first 0, then the end of the
  /// last segment or gap, or the target of a seek. Nil until the first playlist is loaded or a seek
  /// is requested.
  var cursor: Double?
  /// Gaps that are not yet queued.
  var gaps: [QueuedSegment] = []
  /// The latest error from reloading the live playlist; nil after a success.
  private var reloadProblem: String?
  /// Number of consecutive failed reloads of the live playlist from the current place.
  private var failedReloads = 0
  /// Time, in s, since which a live presentation has had no sound left and its playlist has been
  /// overdue (see `PlaylistFollower.staleness`); nil if either is not the case.
  private var drySince: Double?
  /// For each rendition, the index in `presentation.places` of the place from which it is fetched.
  /// A rendition without an entry is fetched from its first place.
  var sites: [Int: Int] = [:]
  /// The last timeline at an earlier place, for each rendition that was moved to another place.
  private var former: [Int: RenditionTimeline] = [:]
  /// The rendition that is currently replaced by others, because its segments cannot be loaded.
  var replaced: Int?
  private var hasLoadedAll = false
  /// Number of segments since the last fetched one that were given up because the server gave no
  /// complete answer or was too slow.
  var lineFailures = 0
  /// Time of the first timeout of the current connection loss, in s; nil while the connection
  /// counts as intact.
  var offlineSince: Double?
  /// The longest recent time from the request for a segment to its first byte, in s.
  var longestFirstByte = 0.0
  /// Renditions that cannot be decrypted.
  var unusable: Set<Int> = []
  let opened: Double
  private var hasToldStart = false

  init(of supply: SegmentSupply, isStopped: @escaping @Sendable () -> Bool) {
    self.supply = supply
    self.isStopped = isStopped
    rule = supply.rule()
    segments = SegmentLoader(supply.presentation.loader, fetcher: supply.presentation.fetcher)
    opened = supply.clock()
  }

  var presentation: OpenPresentation { supply.presentation }
  var queue: SegmentQueue { supply.queue }
  var conditions: SegmentSupply.Conditions { supply.conditions }
  var now: Double { supply.clock() }
  func pause(_ seconds: Double) { supply.pause(seconds) }

  /// Whether neither a stop nor a seek was requested.
  var goesOn: Bool { !isStopped() && !queue.snapshot.isSeeking }

  var isLive: Bool { rendition.flatMap { timelines[$0] }.map { !$0.playlist.hasEnded } ?? false }

  /// Handles a seek, reloads a live playlist if it is due, and then fetches a segment or pauses.
  mutating func step() {
    if let time = queue.takeSeek() {
      cursor = time
      gaps = []
      hasToldStart = false
    }
    guard queue.failure == nil else { return pause(0.05) }
    guard !queue.hasEnded else { return improveEnd() }
    for note in presentation.notes { queue.warn(note) }
    loadAllOfFolder()
    if isLive, let rendition { reloadIfDue(rendition) }
    let isWaiting = !hasNext || situation(isWaiting: false).buffer >= fullBuffer
    if let wish = rule.replacement(situation(isWaiting: isWaiting), queue: replaceable) {
      fetch(replacement: wish)
    } else if !isWaiting || cursor == nil {
      drySince = nil
      fetchNext()
    } else {
      endIfOver()
      pause(0.05)
    }
    tellStart()
  }

  /// Fetches a queued segment again in another rendition, or pauses. Called after all segments have
  /// been fetched.
  private mutating func improveEnd() {
    let situation = situation(isWaiting: true, isAtEnd: true)
    if let wish = rule.replacement(situation, queue: replaceable) {
      fetch(replacement: wish)
    } else {
      pause(0.05)
    }
  }

  /// Duration of sound to fetch ahead of playback, in s.
  var fullBuffer: Double {
    guard isLive, let rendition, let playlist = timelines[rendition]?.playlist else {
      return conditions.bufferSeconds
    }
    return conditions.liveTargetDurations * max(1, playlist.targetDuration)
  }

  /// Whether the current playlist lists a next segment. If the playlist has ended, a segment in
  /// another ended playlist also counts. True if there is no current playlist.
  private var hasNext: Bool {
    guard let cursor, let rendition, let timeline = timelines[rendition] else { return true }
    return timeline.segment(at: cursor) != nil
      || (timeline.playlist.hasEnded && longer(at: cursor) != nil)
  }

  /// Returns the best rendition whose loaded playlist has ended and lists more than 0.25 s of sound
  /// after `time`; nil if there is none. Smaller differences in length can result from the
  /// encoders' frame lengths.
  func longer(at time: Double) -> Int? {
    timelines.filter { $0.value.playlist.hasEnded && $0.value.end - time > 0.25 }.keys.max()
  }

  /// Loads all playlists of a presentation in a folder, because the longest one determines the
  /// duration. Has no effect after the first call.
  private mutating func loadAllOfFolder() {
    guard !hasLoadedAll, !presentation.isRemote else { return }
    hasLoadedAll = true
    // Load the best rendition first, so that the other timelines are aligned with its timeline.
    for rendition in presentation.ladder.indices.reversed() { _ = try? timeline(of: rendition) }
  }

  /// Ends the queue after the last segment. The queue fails if a live playlist does not change for
  /// `livePatience` after the buffer has run empty.
  private mutating func endIfOver() {
    guard let rendition, let timeline = timelines[rendition], !hasNext else { return }
    if timeline.playlist.hasEnded {
      flushGaps()
      queue.setEnded()
      return
    }
    let still = timeline.follower.staleness(at: now)
    let snapshot = queue.snapshot
    let kept = snapshot.mayStart ? conditions.unreadable : 0
    guard still > 0, !snapshot.hasSound(after: snapshot.heard + kept + 0.01) else {
      drySince = nil
      return
    }
    let since = drySince ?? now
    drySince = since
    let limit = Int(conditions.livePatience.rounded())
    queue.note(
      "the live playlist no longer changes; retrying for up to \(limit) s")
    guard now - since >= conditions.livePatience else { return }
    let reason = reloadProblem.map { ": \($0)" } ?? ""
    queue.fail(
      "the live playlist has not changed in the \(Int(now - since)) s since the last sound"
        + reason)
  }

  /// Sets the queue's `mayStart` as soon as the rule finds the buffer sufficient.
  mutating func tellStart() {
    guard !hasToldStart, queue.snapshot.end != nil else { return }
    if rule.mayStart(situation(isWaiting: false)) {
      hasToldStart = true
      queue.setMayStart()
    }
  }

  // MARK: Input of the rule

  /// Returns the state of the player for the rule.
  func situation(isWaiting: Bool, isAtEnd: Bool = false) -> PlaySituation {
    let snapshot = queue.snapshot
    let end = snapshot.end ?? cursor ?? 0
    let now = now
    let timeline = rendition.flatMap { timelines[$0] }
    let usual = timeline.map { timeline in
      timeline.playlist.segments.first?.duration ?? timeline.playlist.targetDuration
    }
    let kept = snapshot.mayStart ? conditions.unreadable : 0
    return PlaySituation(
      now: now, elapsed: now - opened, buffer: max(0, end - snapshot.heard - kept),
      segmentSeconds: max(usual ?? 4, 0.5), hasStarted: snapshot.mayStart, isWaiting: isWaiting,
      isAtEnd: isAtEnd,
      liveDistance: timeline.flatMap { $0.playlist.hasEnded ? nil : $0.end - snapshot.heard })
  }

  /// The queued segments that can be fetched again in another rendition: those that are not gaps
  /// and have not been read to the end.
  private var replaceable: [ReplaceableSegment] {
    let snapshot = queue.snapshot
    return snapshot.segments.compactMap { segment in
      guard let rendition = segment.rendition, segment.end > snapshot.read else { return nil }
      return ReplaceableSegment(
        number: segment.number, rendition: rendition, secondsLeft: segment.start - snapshot.read)
    }
  }

  // MARK: Playlists

  /// Returns a rendition's timeline. Loads the playlist if necessary. If the rendition is not the
  /// current one, reloads a live playlist that does not list the next segment.
  ///
  /// - Throws: the error if the playlist cannot be loaded.
  mutating func timeline(of rendition: Int) throws(PresentationError) -> RenditionTimeline {
    if let known = timelines[rendition] {
      let isBehind = !known.playlist.hasEnded && known.segment(at: cursor ?? 0) == nil
      guard isBehind, rendition != self.rendition else { return known }
      try reload(rendition)
      if let own = self.rendition.flatMap({ timelines[$0] }) {
        let now = now
        timelines[rendition]?.align(to: own, at: now)
      }
      return timelines[rendition] ?? known
    }
    let place = presentation.places[rendition][sites[rendition, default: 0]]
    var loaded = place.loaded
    if loaded == nil {
      // The first answer of a slow server may take longer, so limit the silence only if the
      // connection is lost.
      loaded = try load(place.address, nil, silence: offlineSince == nil ? .infinity : silence)
    }
    guard let loaded, case .media(var playlist) = loaded.playlist else {
      throw .nothing(
        address: place.address.description, reason: "it is not a media playlist")
    }
    for note in playlist.notes { queue.warn(note) }
    if !playlist.isCutOff { playlist.start = playlist.start ?? presentation.start }
    let reference =
      self.rendition.flatMap { timelines[$0] } ?? former[rendition] ?? timelines.values.first
    let skipped = playlist.hasEnded ? 0 : Self.offset(ofStart: playlist)
    var made = RenditionTimeline(playlist, address: loaded.address, origin: -skipped, at: now)
    if let reference { made.align(to: reference, at: now) }
    timelines[rendition] = made
    if playlist.hasEnded, queue.duration.map({ !presentation.isRemote && made.end > $0 }) ?? true {
      let isFirst = queue.duration == nil
      queue.setDuration(
        made.end, start: isFirst ? Self.offset(ofStart: playlist) : queue.start)
    }
    timelines[rendition]?.validator = loaded.validator
    cursor = cursor ?? 0
    return timelines[rendition] ?? made
  }

  /// Returns the time from the beginning of a playlist to `PlaylistFollower.start`, in s.
  private static func offset(ofStart playlist: MediaPlaylist) -> Double {
    let start = PlaylistFollower(playlist, at: 0).start
    let count = start.sequence - playlist.mediaSequence
    return playlist.segments.prefix(count).reduce(0) { $0 + $1.duration } + start.skipped
  }

  private func load(
    _ address: ResourceAddress, _ validator: FetchValidator?, silence: Double
  ) throws(PresentationError) -> PlaylistLoader.Loaded? {
    try presentation.loader.load(
      address, variables: presentation.variables, validator: validator,
      silence: silence, goesOn: { goesOn })
  }

  private mutating func reload(_ rendition: Int) throws(PresentationError) {
    guard var timeline = timelines[rendition] else { return }
    guard let loaded = try load(timeline.address, timeline.validator, silence: silence)
    else {
      timeline.take(nil, at: now)
      timelines[rendition] = timeline
      return
    }
    guard case .media(let playlist) = loaded.playlist else {
      throw .nothing(
        address: timeline.address.description, reason: "it is not a media playlist")
    }
    timeline.take(playlist, at: now)
    timeline.validator = loaded.validator
    timelines[rendition] = timeline
  }

  private mutating func reloadIfDue(_ rendition: Int) {
    guard let due = timelines[rendition]?.follower.nextLoad, now >= due else { return }
    do throws(PresentationError) {
      try reload(rendition)
      (reloadProblem, failedReloads) = (nil, 0)
      offlineSince = nil
    } catch {
      let now = now
      if case .fetch(_, .timedOut) = error { offlineSince = offlineSince ?? now }
      timelines[rendition]?.fail(at: now, wait: offlineSince == nil ? nil : Self.lineWait)
      guard error != .interrupted else { return }
      failedReloads += 1
      if failedReloads > 1, move(rendition, because: error.description) {
        failedReloads = 0
        return
      }
      // Report only the first error until the playlist can be loaded again.
      if reloadProblem == nil { queue.note("\(error); the playlist will be requested again") }
      reloadProblem = error.description
    }
  }

  /// Switches a rendition to its next place; the first place follows the last. Returns false if the
  /// rendition has only one place.
  mutating func move(_ rendition: Int, because problem: String) -> Bool {
    let places = presentation.places[rendition]
    guard places.count > 1 else { return false }
    let site = sites[rendition, default: 0]
    let next = (site + 1) % places.count
    queue.warn(
      "'\(places[next].address)' replaces '\(places[site].address)', which has the same content "
        + "but failed: \(problem)")
    sites[rendition] = next
    former[rendition] = timelines.removeValue(forKey: rendition) ?? former[rendition]
    return true
  }
}
