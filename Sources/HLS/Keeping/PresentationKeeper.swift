// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import Synchronization

/// Writes what is fetched of a presentation into a folder, as a presentation that plays without a
/// server.
///
/// The folder holds `master.m3u8`; a folder for each rendition, with the segments as they are after
/// decryption, their initialisation sections and a media playlist; and the keeper's own record
/// (`kept.json`), by which a later run knows what is there. All names are of the keeper's making. A
/// segment that was not kept between two that were is a gap, so that time stays true.
///
/// Files take their names when they are complete and on the disk, and playlists are written after
/// what they name: whenever the process ends, what is in the folder is a valid presentation.
/// Playlists are written with a segment, but no more than once a second (less often where writing
/// takes long), and by ``finish()``. They always say that they have ended: nobody adds to the
/// folder for who plays it later.
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
/// Everything may be called from any thread; calls wait for each other, and for the disk. It is not
/// for the thread that renders.
public final class PresentationKeeper: Sendable {
  static let playlistName = "playlist.m3u8"
  static let masterName = "master.m3u8"
  /// Bytes that a segment may have.
  public static let mostSegmentBytes = 64 << 20
  static let mostRecordBytes = 256 << 20

  /// As it was given.
  public let path: String
  private let state: Mutex<KeeperState>

  /// Opens a folder, which is made where there is none; the folder it lies in must be there.
  ///
  /// What an earlier run kept there of the same presentation is taken over.
  ///
  /// - Parameters:
  ///   - path: a folder that is new, empty, or was kept before.
  ///   - source: where the presentation is from: its address, of which neither a query counts nor a
  ///     user's name and password.
  /// - Throws: why nothing can be kept there. Nothing has been written then, but perhaps the empty
  ///   folder.
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

  /// A name of digits and a word.
  static func fileName(_ number: Int, _ kind: String) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits + "." + kind
  }

  /// The first reason why something could not be written; nil while all is well.
  public var problem: KeepingError? { state.withLock { $0.problem } }

  // MARK: Keeping

  /// Tells the durations of a rendition's segments, so that gaps have the right length. To be
  /// called with each newer copy of a live playlist, too.
  public func follow(_ playlist: MediaPlaylist, of rendition: KeptRendition) {
    _ = guarded(tells: false) { (state) throws(KeepingError) in
      let index = try state.open(rendition)
      state.renditions[index].timeline.follow(playlist)
    }
  }

  /// Keeps a segment. One that is kept already under this number is replaced where it is another.
  ///
  /// What is no sound, or is not whole, is not kept. Where writing fails, playing goes on as if
  /// there were no keeper, and the next segment is tried again.
  ///
  /// - Parameters:
  ///   - body: all of it, in the clear, 1 to 64 MB.
  ///   - map: the initialisation section that goes before it, in the clear.
  /// - Returns: why it could not be written, the first time only.
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

  /// Brings the playlists up to date. More can be kept after it.
  ///
  /// - Returns: why that failed, the first time only.
  @discardableResult
  public func finish() -> KeepingError? {
    guarded { (state) throws(KeepingError) in try state.writeMakingRoom() }
  }

  /// Does something that may fail.
  ///
  /// - Returns: the first failure, unless it was returned before.
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

  // MARK: What is there

  /// Whether a segment is there and whole: its size, its check sum and its format are looked at,
  /// the first time that it is asked for. One that is damaged is forgotten.
  public func has(_ segment: MediaSegment, of rendition: KeptRendition) -> Bool {
    state.withLock { state in
      guard let index = state.place(of: rendition) else { return false }
      return state.renditions[index].has(segment)
    }
  }

  /// Reads everything that is kept of a rendition from the disk again, and forgets what is damaged.
  ///
  /// - Parameter goesOn: asked after each segment; false ends it.
  /// - Returns: numbers of the segments that were damaged.
  public func verify(_ rendition: KeptRendition, goesOn: (Int) -> Bool = { _ in true }) -> [Int] {
    state.withLock { state in
      guard let index = state.place(of: rendition) else { return [] }
      let damaged = state.renditions[index].damaged(goesOn)
      if !damaged.isEmpty { state.isStale = true }
      return damaged
    }
  }
}
