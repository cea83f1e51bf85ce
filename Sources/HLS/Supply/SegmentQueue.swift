// SPDX-License-Identifier: Apache-2.0

private import Dispatch
private import Synchronization

/// A segment of the presentation in the queue: a stretch of its time, in the renditions that are at
/// hand.
public struct QueuedSegment: Sendable {
  /// Counts up without gaps.
  public internal(set) var number = 0
  /// Of the presentation's time, s, by the playlist.
  public var start: Double
  public var duration: Double
  /// Which rendition is to be heard; nil for a gap.
  public var rendition: Int?
  /// By rendition; where there are two the sound changes within the segment.
  public var supplied: [Int: SuppliedSegment] = [:]
  /// Why there is a gap.
  public var problem: String?
  /// Why the rendition is another one than before.
  public var reason: String?

  public var end: Double { start + duration }
}

/// What has been fetched and is not yet decoded, between the thread that fetches and the one that
/// reads.
///
/// ## Threading
/// May be used from any thread.
public final class SegmentQueue: Sendable {
  struct State {
    fileprivate(set) var segments: [QueuedSegment] = []
    fileprivate var nextNumber = 0
    fileprivate(set) var hasEnded = false
    fileprivate(set) var mayStart = false
    fileprivate(set) var failure: String?
    /// s of the presentation's time.
    fileprivate(set) var read = 0.0
    /// Nil where nobody tells: then what is read is heard.
    fileprivate var toldHeard: Double?
    fileprivate var seek: Double?
    fileprivate var notes: [String] = []
    fileprivate(set) var duration: Double?
    fileprivate(set) var start = 0.0

    var heard: Double { toldHeard ?? read }
    var isSeeking: Bool { seek != nil }
    /// s, where the last segment ends; nil where there is none.
    var end: Double? { segments.last?.end }

    func segment(_ number: Int) -> QueuedSegment? { segments.first { $0.number == number } }
  }

  private let state = Mutex(State())
  /// Signalled when a reader that waits should look again.
  private let change = DispatchSemaphore(value: 0)

  public init() {}

  // MARK: For who reads

  /// What a reader finds where it looks for a segment.
  public enum Lookup {
    case here(QueuedSegment)
    /// It has not come yet.
    case pending
    /// It will not come, and why, if something is wrong.
    case none(failure: String?)
  }

  /// Looks for a segment.
  public func look(for number: Int) -> Lookup {
    state.withLock { state in
      if let segment = state.segment(number) { return .here(segment) }
      return state.hasEnded ? .none(failure: state.failure) : .pending
    }
  }

  /// Waits until a segment comes, the end is reached or `wake` is called. Only for one thread at a
  /// time.
  public func waitForChange(atMost seconds: Double) {
    _ = change.wait(timeout: .now() + seconds)
  }

  /// Ends the wait of the reader.
  public func wake() { change.signal() }

  /// A segment; nil where it has not come yet, or is gone.
  public func segment(_ number: Int) -> QueuedSegment? { snapshot.segment(number) }

  /// The number of the oldest segment that is there.
  public var first: Int? { state.withLock { $0.segments.first?.number } }

  /// Whether no more will come.
  public var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether enough is there to begin with.
  public var mayStart: Bool { state.withLock { $0.mayStart || $0.hasEnded } }

  /// Why no more comes, a sentence; nil while all is well.
  public var failure: String? { state.withLock { $0.failure } }

  /// Lets go of segments before this one.
  public func release(before number: Int) {
    state.withLock { state in state.segments.removeAll { $0.number < number } }
  }

  /// How far the sound has been read and heard, s of the presentation's time.
  public func advance(read: Double? = nil, heard: Double? = nil) {
    state.withLock { state in
      if let read { state.read = read }
      if let heard { state.toldHeard = heard }
    }
  }

  /// s in all; nil live, and before the first playlist is there.
  public var duration: Double? { state.withLock { $0.duration } }

  /// s at which the presentation wishes to be begun.
  public var start: Double { state.withLock { $0.start } }

  /// Asks for other times, in s; what is there is given up.
  ///
  /// - Returns: the number that the next segment will have.
  public func seek(to time: Double) -> Int {
    state.withLock { state in
      state.seek = time
      state.segments = []
      state.hasEnded = false
      state.mayStart = false
      (state.read, state.toldHeard) = (time, nil)
      return state.nextNumber
    }
  }

  /// What was noteworthy since the last call, a sentence each.
  public func takeNotes() -> [String] {
    state.withLock { state in
      defer { state.notes = [] }
      return state.notes
    }
  }

  // MARK: For who fetches

  var snapshot: State { state.withLock { $0 } }

  func takeSeek() -> Double? {
    state.withLock { state in
      defer { state.seek = nil }
      return state.seek
    }
  }

  /// Appends a segment; nothing where a seek has made it needless.
  func append(_ segment: QueuedSegment) {
    state.withLock { state in
      guard state.seek == nil else { return }
      state.segments.append(segment)
      state.segments[state.segments.count - 1].number = state.nextNumber
      state.nextNumber += 1
    }
    wake()
  }

  /// Adds a rendition of a segment; it is the one to be heard from where it can be joined, if
  /// `isHeard`.
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
  func note(_ text: String) { state.withLock { $0.notes.append(text) } }

  func setEnded() {
    state.withLock { if $0.seek == nil { $0.hasEnded = true } }
    wake()
  }

  func fail(_ reason: String) {
    state.withLock { state in
      state.failure = state.failure ?? reason
      state.hasEnded = true
    }
    wake()
  }
}
