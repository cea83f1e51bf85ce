// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// What has been fetched and is not yet decoded, between the thread that fetches and the one that reads.
///
/// ## Threading
/// May be used from any thread.
public final class SegmentQueue: Sendable {
  private struct State {
    var items: [SupplyItem] = []
    var nextID = 0
    var hasEnded = false
    var mayStart = false
    var failure: String?
    /// s of the presentation's time.
    var read = 0.0
    /// Nil where nobody tells: then what is read is heard.
    var heard: Double?
    var seek: Double?
    var notes: [String] = []
    var duration: Double?
    var start = 0.0
  }

  private let state = Mutex(State())

  public init() {}

  // MARK: For who reads

  /// An item; nil where it has not come yet, or is gone.
  public func item(_ id: Int) -> SupplyItem? {
    state.withLock { state in state.items.first { $0.id == id } }
  }

  /// The number of the oldest item that is there.
  public var first: Int? { state.withLock { $0.items.first?.id } }

  /// Whether no more will come.
  public var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether enough is there to begin with.
  public var mayStart: Bool { state.withLock { $0.mayStart || $0.hasEnded } }

  /// Why no more comes, a sentence; nil while all is well.
  public var failure: String? { state.withLock { $0.failure } }

  /// Lets go of items before this one.
  public func release(before id: Int) {
    state.withLock { state in state.items.removeAll { $0.id < id } }
  }

  /// How far the sound has been read and heard, s of the presentation's time.
  public func advance(read: Double? = nil, heard: Double? = nil) {
    state.withLock { state in
      if let read { state.read = read }
      if let heard { state.heard = heard }
    }
  }

  /// s in all; nil live, and before the first playlist is there.
  public var duration: Double? { state.withLock { $0.duration } }

  /// s at which the presentation wishes to be begun.
  public var start: Double { state.withLock { $0.start } }

  /// Asks for other times, in s; what is there is given up.
  ///
  /// - Returns: the number that the next item will have.
  public func seek(to time: Double) -> Int {
    state.withLock { state in
      state.seek = time
      state.items = []
      state.hasEnded = false
      state.mayStart = false
      (state.read, state.heard) = (time, nil)
      return state.nextID
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

  struct Snapshot {
    /// s, where the last item ends; nil where there is none.
    var end: Double?
    var read: Double
    var heard: Double
    var mayStart: Bool
    var isSeeking: Bool
    var items: [(id: Int, tier: Int?, start: Double, duration: Double)]
  }

  var snapshot: Snapshot {
    state.withLock { state in
      Snapshot(
        end: state.items.last?.end, read: state.read,
        heard: state.heard ?? state.read,
        mayStart: state.mayStart, isSeeking: state.seek != nil,
        items: state.items.map { ($0.id, $0.tier, $0.start, $0.duration) })
    }
  }

  func takeSeek() -> Double? {
    state.withLock { state in
      defer { state.seek = nil }
      return state.seek
    }
  }

  /// Appends an item; nothing where a seek has made it needless.
  func append(_ item: SupplyItem) {
    state.withLock { state in
      guard state.seek == nil else { return }
      var item = item
      item.id = state.nextID
      state.nextID += 1
      state.items.append(item)
    }
  }

  /// Adds a version of an item; it is the one to be heard from where it can be joined, if `isHeard`.
  func add(
    _ segment: SuppliedSegment, tier: Int, to id: Int, isHeard: Bool, reason: String? = nil
  ) {
    state.withLock { state in
      guard state.seek == nil, let index = state.items.firstIndex(where: { $0.id == id }) else {
        return
      }
      state.items[index].versions[tier] = segment
      guard isHeard else { return }
      state.items[index].tier = tier
      state.items[index].reason = reason ?? state.items[index].reason
    }
  }

  func setDuration(_ seconds: Double, start: Double) {
    state.withLock { ($0.duration, $0.start) = (seconds, start) }
  }
  func setMayStart() { state.withLock { $0.mayStart = true } }
  func setEnded() { state.withLock { if $0.seek == nil { $0.hasEnded = true } } }
  func note(_ text: String) { state.withLock { $0.notes.append(text) } }

  func fail(_ reason: String) {
    state.withLock { state in
      state.failure = state.failure ?? reason
      state.hasEnded = true
    }
  }
}
