// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import Synchronization

/// An object that writes the segments of a presentation to a folder, so that they can be played
/// without a server.
///
/// The folder contains `master.m3u8`, a record (`kept.json`) and one subfolder for each rendition.
/// A subfolder contains the decrypted segments, their initialisation sections, a media playlist and
/// a record. Missing segments become gaps in the playlist. Long series of missing segments are
/// omitted.
///
/// Files get their final names when they are complete and on the disk. Playlists are written after
/// the files that they list: normally at most once per second while segments are added, and by
/// ``finish()``. After the first playlists, the folder is a valid presentation at all times, even
/// if the process is killed.
///
/// ```swift
/// let keeper = try PresentationKeeper(folder: "kept", source: address.description)
/// let rendition = KeptRendition(rendition, in: playlist)
/// keeper.follow(mediaPlaylist, of: rendition)
/// if let error = keeper.keep(segment, body: body, map: map, of: rendition) { warn(error) }
/// keeper.finish()
/// ```
///
/// ## Threading
/// All members may be used from any thread, except the audio thread: calls wait for other calls
/// and for disk writes.
public final class PresentationKeeper: Sendable {
  static let playlistName = "playlist.m3u8"
  static let masterName = "master.m3u8"
  /// Maximum size of a segment, in bytes.
  public static let mostSegmentBytes = 64 << 20
  static let mostRecordBytes = 256 << 20

  /// The folder's path, as given to the initialiser.
  public let path: String
  private let state: Mutex<KeeperState>

  /// Opens a folder, and creates it if it does not exist. Its parent must exist. Segments that are
  /// already kept in the folder are reused.
  ///
  /// - Parameters:
  ///   - path: a folder that does not exist, is empty or contains the same presentation.
  ///   - source: the presentation's address. Its query, fragment, user name and password are
  ///     ignored.
  /// - Throws: the reason why nothing can be kept in the folder.
  public convenience init(folder path: String, source: String) throws(KeepingError) {
    try self.init(folder: path, source: source, now: Self.monotonicSeconds)
  }

  init(
    folder path: String, source: String, now: @escaping @Sendable () -> Double
  ) throws(KeepingError) {
    state = Mutex(try KeeperState(path, source: source.withoutQuery.withoutUser, now: now))
    self.path = path
  }

  private static let monotonicSeconds: @Sendable () -> Double = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Returns a file name that consists of a number with at least five digits and an extension.
  static func fileName(_ number: Int, _ kind: String) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits + "." + kind
  }

  /// The first write error; nil if there was none.
  public var problem: KeepingError? { state.withLock { $0.problem } }

  // MARK: Keeping segments

  /// Records the durations, discontinuity numbers and dates in a rendition's playlist, for the gaps
  /// that replace missing segments. Call this method again with each newer copy of a live playlist.
  public func follow(_ playlist: MediaPlaylist, of rendition: KeptRendition) {
    _ = guarded(tells: false) { (state) throws(KeepingError) in
      let index = try state.open(rendition)
      state.renditions[index].timeline.follow(playlist)
    }
  }

  /// Writes a segment to the folder. Replaces another segment with the same number.
  ///
  /// Ignores a segment that is incomplete, too large or in an unknown format, or whose duration or
  /// numbers are out of range. After a write error, more segments can still be kept.
  ///
  /// - Parameters:
  ///   - body: the complete decrypted segment, at most 64 MiB.
  ///   - map: the decrypted initialisation section; nil if there is none.
  /// - Returns: the first write error, if it has not been returned before; otherwise nil.
  @discardableResult
  public func keep(
    _ segment: MediaSegment, body: [UInt8], map: [UInt8]? = nil, of rendition: KeptRendition
  ) -> KeepingError? {
    guard let format = SegmentFormat(body), format.problem(body) == nil,
      body.count <= Self.mostSegmentBytes, KeptTime(segment) != nil
    else { return nil }
    return guarded { (state) throws(KeepingError) in
      try state.keep(segment, body, format, map: map, of: rendition)
    }
  }

  /// Writes the playlists that are out of date. More segments can be kept afterwards.
  ///
  /// - Returns: the first write error, if it has not been returned before; otherwise nil.
  @discardableResult
  public func finish() -> KeepingError? {
    guarded { (state) throws(KeepingError) in try state.writeMakingRoom() }
  }

  /// Runs `body` while the state is locked, and records the first error of all calls.
  ///
  /// - Returns: the first error; nil if there was none, if it has been returned before or if
  ///   `tells` is false.
  private func guarded(
    tells: Bool = true, _ body: (inout KeeperState) throws(KeepingError) -> Void
  ) -> KeepingError? {
    state.withLock { state in
      do throws(KeepingError) { try body(&state) } catch {
        state.problem = state.problem ?? error
      }
      guard tells, !state.isTold, let problem = state.problem else { return nil }
      state.isTold = true
      return problem
    }
  }

  /// The range from the lowest to the highest media sequence number that is kept in any rendition;
  /// nil if no segment is kept.
  var keptNumbers: ClosedRange<Int>? { state.withLock { $0.numbers } }

  /// Returns the media sequence numbers of a rendition's kept segments.
  func keptNumbers(of rendition: KeptRendition) -> Set<Int> {
    state.withLock { state in
      state.place(of: rendition).map { Set(state.renditions[$0].timeline.segments.keys) } ?? []
    }
  }

  // MARK: Verification

  /// Whether a segment is kept and intact. Removes a damaged segment from the record.
  ///
  /// Reads the files, unless `keep` has written the segment or an earlier call has found it intact.
  public func has(_ segment: MediaSegment, of rendition: KeptRendition) -> Bool {
    state.withLock { state in
      guard let index = state.place(of: rendition) else { return false }
      return state.renditions[index].has(segment)
    }
  }

  /// Reads all kept files of a rendition, and removes damaged segments from the record.
  ///
  /// - Parameter goesOn: called after each segment with its number; return false to stop.
  /// - Returns: the numbers of the damaged segments; empty if the rendition is not kept.
  public func verify(_ rendition: KeptRendition, goesOn: (Int) -> Bool = { _ in true }) -> [Int] {
    state.withLock { state in
      guard let index = state.place(of: rendition) else { return [] }
      let damaged = state.renditions[index].damaged(goesOn)
      if !damaged.isEmpty { state.isStale = true }
      return damaged
    }
  }
}
