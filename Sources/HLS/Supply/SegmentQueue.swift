// SPDX-License-Identifier: Apache-2.0

private import Dispatch
private import Synchronization

/// An entry of the queue: a segment in one or more renditions, or a gap.
public struct QueuedSegment: Sendable {
  /// Number of the entry in the queue. Numbers are consecutive.
  public internal(set) var number = 0
  /// Start in s of presentation time (see `RenditionTimeline`), according to the playlist.
  public var start: Double
  public var duration: Double
  /// The rendition to play, or to change to within the segment; nil for a gap.
  public var rendition: Int?
  /// The segment in each fetched rendition. If there are several, the sound can change from one to
  /// another within the segment.
  public var supplied: [Int: SuppliedSegment] = [:]
  /// The reason for a gap; nil if the entry is not a gap.
  public var problem: String?
  /// The reason for a change of rendition, for the listener; nil if there is none.
  public var reason: String?

  public var end: Double { start + duration }
}

/// The queue of fetched segments, between the fetching thread and the reading thread.
///
/// ## Threading
/// All members may be used from any thread.
public final class SegmentQueue: Sendable {
  struct State {
    fileprivate(set) var segments: [QueuedSegment] = []
    fileprivate var nextNumber = 0
    fileprivate(set) var hasEnded = false
    fileprivate(set) var mayStart = false
    fileprivate(set) var failure: String?
    /// Read position, in s of presentation time.
    fileprivate(set) var read = 0.0
    /// Playback position, in s of presentation time; nil if it has not been reported since the
    /// start or since the last seek.
    fileprivate var toldHeard: Double?
    fileprivate var seek: Double?
    fileprivate var notes: [String] = []
    fileprivate var warnings: [String] = []
    /// The texts of all notes and warnings so far. The same text is reported only once.
    fileprivate var told: Set<String> = []
    fileprivate(set) var duration: Double?
    fileprivate(set) var start = 0.0

    var heard: Double { toldHeard ?? read }
    var isSeeking: Bool { seek != nil }
    /// End of the last segment, in s of presentation time; nil if the queue is empty.
    var end: Double? { segments.last?.end }

    /// Whether sound after a position, in s of presentation time, is queued.
    func hasSound(after time: Double) -> Bool {
      segments.contains { $0.rendition != nil && $0.end > time }
    }

    func segment(_ number: Int) -> QueuedSegment? { segments.first { $0.number == number } }
  }

  private let state = Mutex(State())
  /// Wakes a waiting reader, which then checks the queue again.
  private let change = DispatchSemaphore(value: 0)

  public init() {}

  // MARK: Reading

  /// The result of `look(for:)`.
  public enum Lookup {
    case here(QueuedSegment)
    /// The segment is not in the queue, but more segments may arrive.
    case pending
    /// The segment is not in the queue, and no more segments will arrive. `failure` is the reason
    /// if fetching failed, and nil at the end of the presentation.
    case none(failure: String?)
  }

  /// Looks up a segment by queue number.
  public func look(for number: Int) -> Lookup {
    state.withLock { state in
      if let segment = state.segment(number) { return .here(segment) }
      return state.hasEnded ? .none(failure: state.failure) : .pending
    }
  }

  /// Waits for at most `seconds` until a segment arrives, the queue ends or `wake` is called. Each
  /// such event that occurs while no thread waits ends one later wait at once. Only one thread may
  /// wait at a time.
  public func waitForChange(atMost seconds: Double) {
    _ = change.wait(timeout: .now() + seconds)
  }

  /// Ends the current call of `waitForChange`, or a later one if no thread is waiting.
  public func wake() { change.signal() }

  /// Returns the segment with a queue number; nil if it is not in the queue.
  public func segment(_ number: Int) -> QueuedSegment? { snapshot.segment(number) }

  /// Whether a segment with sound is queued under this number or a higher one.
  public func hasSound(from number: Int) -> Bool {
    state.withLock { $0.segments.contains { $0.number >= number && $0.rendition != nil } }
  }

  /// Queue number of the oldest segment; nil if the queue is empty.
  public var first: Int? { state.withLock { $0.segments.first?.number } }

  /// Whether no more segments will arrive, unless `seek` is called.
  public var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether enough is queued to start playing, or the queue has ended.
  public var mayStart: Bool { state.withLock { $0.mayStart || $0.hasEnded } }

  /// The reason why fetching failed; nil if it did not fail.
  public var failure: String? { state.withLock { $0.failure } }

  /// Removes the segments with numbers below `number`.
  public func release(before number: Int) {
    state.withLock { state in state.segments.removeAll { $0.number < number } }
  }

  /// Records how far the sound has been read and heard, in s of presentation time. Nil leaves a
  /// position unchanged.
  public func advance(read: Double? = nil, heard: Double? = nil) {
    state.withLock { state in
      if let read { state.read = read }
      if let heard { state.toldHeard = heard }
    }
  }

  /// Total duration in s; nil if it is unknown, as for a live presentation.
  public var duration: Double? { state.withLock { $0.duration } }

  /// Preferred start in s of presentation time; 0 if it is unknown, as for a live presentation.
  public var start: Double { state.withLock { $0.start } }

  /// Removes all queued segments and requests the segments from `time` on, in s of presentation
  /// time. Also restarts fetching after the end of the presentation or a failure.
  ///
  /// - Returns: the queue number of the next segment that will arrive.
  public func seek(to time: Double) -> Int {
    state.withLock { state in
      state.seek = time
      state.segments = []
      state.hasEnded = false
      state.failure = nil
      state.mayStart = false
      (state.read, state.toldHeard) = (time, nil)
      return state.nextNumber
    }
  }

  /// Returns the notes that were added since the last call, oldest first.
  public func takeNotes() -> [String] {
    state.withLock { state in
      defer { state.notes = [] }
      return state.notes
    }
  }

  /// Returns the warnings that were added since the last call, oldest first. They report unusable
  /// renditions and replaced playlists, and include the `notes` of playlists.
  public func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  // MARK: Fetching

  var snapshot: State { state.withLock { $0 } }

  func takeSeek() -> Double? {
    state.withLock { state in
      defer { state.seek = nil }
      return state.seek
    }
  }

  /// Appends a segment or a gap and assigns its number, unless a seek is pending.
  func append(_ segment: QueuedSegment) {
    state.withLock { state in
      guard state.seek == nil else { return }
      state.segments.append(segment)
      state.segments[state.segments.count - 1].number = state.nextNumber
      state.nextNumber += 1
    }
    wake()
  }

  /// Adds a rendition to a queued segment, unless a seek is pending or the segment is no longer
  /// queued. If `isHeard` is true, the added rendition becomes the segment's `rendition`.
  func add(
    _ segment: SuppliedSegment, rendition: Int, to number: Int, isHeard: Bool, reason: String? = nil
  ) {
    state.withLock { state in
      guard state.seek == nil,
        let index = state.segments.firstIndex(where: { $0.number == number })
      else { return }
      state.segments[index].supplied[rendition] = segment
      guard isHeard else { return }
      state.segments[index].rendition = rendition
      state.segments[index].reason = reason ?? state.segments[index].reason
    }
  }

  func setDuration(_ seconds: Double, start: Double) {
    state.withLock { ($0.duration, $0.start) = (seconds, start) }
  }

  func setMayStart() { state.withLock { $0.mayStart = true } }

  /// Adds a note for the listener, unless the same text has been added before.
  func note(_ text: String) {
    state.withLock { if $0.told.insert(text).inserted { $0.notes.append(text) } }
  }

  /// Adds a warning, unless the same text has been added before.
  func warn(_ text: String) {
    state.withLock { if $0.told.insert(text).inserted { $0.warnings.append(text) } }
  }

  /// Ends the queue, unless a seek is pending.
  func setEnded() {
    state.withLock { if $0.seek == nil { $0.hasEnded = true } }
    wake()
  }

  /// Ends the queue and records the reason for the first failure. Does neither while a seek is
  /// pending, because the seek restarts fetching.
  func fail(_ reason: String) {
    state.withLock { state in
      guard state.seek == nil else { return }
      state.failure = state.failure ?? reason
      state.hasEnded = true
    }
    wake()
  }
}
