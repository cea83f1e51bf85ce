// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// Fetches missing segments of a kept presentation, so that one rendition is complete.
///
/// A player that changes between renditions leaves gaps in each kept rendition. Other players
/// cannot join segments of different renditions, so they need a rendition without gaps.
///
/// ## Threading
/// All members may be used from any thread.
public final class KeptCompletion: Sendable {
  private struct State {
    /// The segments that playlists have listed, by rendition and media sequence number.
    var segments: [Int: [Int: (segment: MediaSegment, playlist: ResourceAddress)]] = [:]
    /// The renditions whose playlists have ended. No more segments of these will follow.
    var complete: Set<Int> = []
  }

  private let presentation: OpenPresentation
  private let keeper: PresentationKeeper
  private let fetcher: any ResourceFetcher
  private let state = Mutex(State())

  /// Creates an object that fetches nothing before `run` is called.
  ///
  /// - Parameter fetcher: a fetcher that repeats failed requests, such as ``PersistentFetcher``.
  public init(
    of presentation: OpenPresentation, in keeper: PresentationKeeper,
    fetcher: any ResourceFetcher
  ) {
    (self.presentation, self.keeper, self.fetcher) = (presentation, keeper, fetcher)
  }

  /// Keeps a segment that has arrived, and remembers the segments that its playlist lists.
  public func take(_ arrival: SegmentSupply.Arrival) {
    let rendition = presentation.keptRenditions[arrival.rendition]
    let map = arrival.supplied.initialisation
    keeper.follow(arrival.playlist, of: rendition)
    keeper.keep(
      arrival.segment, body: arrival.supplied.bytes, map: map.isEmpty ? nil : map, of: rendition)
    state.withLock { state in
      var known = state.segments[arrival.rendition] ?? [:]
      if known.count > PlaylistLimits.segments { known = [:] }
      for segment in arrival.playlist.segments {
        known[segment.sequence] = (segment, arrival.address)
      }
      state.segments[arrival.rendition] = known
      if arrival.playlist.hasEnded { state.complete.insert(arrival.rendition) }
    }
  }

  /// Fetches the missing segments of one rendition. Does nothing if a rendition is complete.
  ///
  /// Tries the renditions in ascending order of the estimated amount of data to fetch, until one is
  /// complete. Skips a rendition if one of its missing segments cannot be fetched.
  ///
  /// - Parameters:
  ///   - begins: called before the missing segments of a rendition are fetched, with their count.
  ///   - goesOn: called before and during each request; return false to stop.
  public func run(begins: (Int) -> Void, goesOn: () -> Bool) {
    guard let range = keeper.keptNumbers else { return }
    let state = state.withLock { $0 }
    let known = state.segments
    let missing = known.keys.map { rendition in
      let kept = keeper.keptNumbers(of: presentation.keptRenditions[rendition])
      // A rendition whose playlist has ended may have fewer segments than another.
      let isComplete = state.complete.contains(rendition)
      let numbers = range.filter { number in
        !kept.contains(number) && !(isComplete && known[rendition]?[number] == nil)
      }
      let seconds = numbers.reduce(0) { $0 + (known[rendition]?[$1]?.segment.duration ?? 1e6) }
      return (rendition, numbers, cost: seconds * presentation.ladder[rendition].bitRate)
    }
    for (rendition, numbers, _) in missing.sorted(by: { $0.cost < $1.cost }) {
      if numbers.isEmpty { return }
      let places = numbers.compactMap { known[rendition]?[$0] }.filter { !$0.segment.isGap }
      // A segment cannot be fetched if its playlist marks it as a gap or has never listed it.
      guard places.count == numbers.count else { continue }
      begins(numbers.count)
      if fetch(places, rendition, goesOn) { return }
      guard goesOn() else { return }
    }
  }

  private func fetch(
    _ places: [(segment: MediaSegment, playlist: ResourceAddress)], _ rendition: Int,
    _ goesOn: () -> Bool
  ) -> Bool {
    var loader = SegmentLoader(presentation.loader, fetcher: fetcher)
    for (segment, playlist) in places {
      guard goesOn(),
        let (supplied, _) = try? loader.load(
          segment, in: playlist, attempts: 2, goesOn: { _ in goesOn() })
      else { return false }
      let map = supplied.initialisation
      let error = keeper.keep(
        segment, body: supplied.bytes, map: map.isEmpty ? nil : map,
        of: presentation.keptRenditions[rendition])
      if error != nil || keeper.problem != nil { return false }
    }
    return true
  }
}
