// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import Synchronization

/// Writes what is fetched of a presentation into a folder, as a presentation that plays without a server.
///
/// The folder holds `master.m3u8`; a folder for each rendition, with the segments as they are after
/// decryption, their initialisation sections and a media playlist; and the keeper's own record
/// (`kept.json`), by which a later run knows what is there. All names are of the keeper's making. A
/// segment that was not kept between two that were is a gap, so that time stays true.
///
/// Files take their names when they are complete and on the disk, and playlists are written after what
/// they name: whenever the process ends, what is in the folder is a valid presentation. Playlists are
/// written with a segment, but no more than once a second (less often where writing takes long), and by
/// ``finish()``. They always say that they have ended: nobody adds to the folder for who plays it later.
///
/// ```swift
/// let keeper = try PresentationKeeper(folder: "kept", source: address.description)
/// let rendition = KeptRendition(tier, in: playlist)
/// keeper.follow(mediaPlaylist, of: rendition)
/// if let error = keeper.keep(segment, body: body, map: map, of: rendition) { warn(error) }
/// keeper.finish()
/// ```
///
/// ## Threading
/// Everything may be called from any thread; calls wait for each other, and for the disk. It is not for
/// the thread that renders.
public final class PresentationKeeper: Sendable {
  struct Kept {
    let folder: KeptFolder
    let name: String
    var rendition: KeptRendition
    var timeline: KeptTimeline
    /// Numbers of segments whose files were found to be whole.
    var verified: Set<Int> = []
    /// Names of initialisation sections that were.
    var verifiedMaps: Set<String> = []
    /// Names of files that the playlist on the disk may still name, but no newer one.
    var obsolete: [String] = []
    /// The playlist on the disk is older than what is known.
    var isStale = false
  }

  struct State {
    var record: KeptRecord
    var renditions: [Kept] = []
    var isStale = false
    /// When the playlists were written last, and how long it took: seconds.
    var written = -Double.infinity
    var writing = 0.0
    var problem: KeepingError?
    /// The first segment of any rendition, when the playlists were written.
    var first: Int?
    /// The segment that was kept last, with the place of its rendition.
    var newest: (place: Int, number: Int)?

    /// The rendition of this address, else the one that it likely is.
    func place(of rendition: KeptRendition) -> Int? {
      if let index = renditions.firstIndex(where: { $0.rendition.uri == rendition.uri }) {
        return index
      }
      let likely = renditions.indices.filter { renditions[$0].rendition.isLikely(rendition) }
      return likely.count == 1 ? likely[0] : nil
    }
  }

  static let playlistName = "playlist.m3u8"
  static let masterName = "master.m3u8"
  /// Bytes that a segment may have.
  public static let mostSegmentBytes = 64 << 20
  static let mostRecordBytes = 256 << 20

  /// As it was given.
  public let path: String
  private let folder: KeptFolder
  private let now: @Sendable () -> Double
  private let state: Mutex<State>

  /// Opens a folder, which is made where there is none; the folder it lies in must be there.
  ///
  /// What an earlier run kept there of the same presentation is taken over.
  ///
  /// - Parameters:
  ///   - path: a folder that is new, empty, or was kept before.
  ///   - source: where the presentation is from: its address, of which neither a query counts nor a
  ///     user's name and password.
  /// - Throws: why nothing can be kept there. Nothing has been written then, but perhaps the empty folder.
  public convenience init(folder path: String, source: String) throws(KeepingError) {
    try self.init(folder: path, source: source, now: Self.monotonicSeconds)
  }

  init(
    folder path: String, source: String, now: @escaping @Sendable () -> Double
  ) throws(KeepingError) {
    let folder = try KeptFolder(path: path)
    guard folder.lock() else { throw .isInUse(path: path) }
    let source = source.withoutQuery.withoutUser
    var state = State(record: KeptRecord(source: source))
    if let old = folder.read(KeptRecord.file, limit: Self.mostRecordBytes).flatMap(KeptRecord.init)
    {
      guard old.source == source else { throw .holdsAnother(path: path, source: old.source) }
      state.record = old
    } else if folder.names.contains(where: { !$0.hasPrefix(".") && $0 != "lost+found" }) {
      throw .isForeign(path: path)
    }
    folder.removeUnfinished()
    // Also a test of whether the folder can be written at all.
    try folder.write(state.record.bytes, to: KeptRecord.file)
    for entry in state.record.renditions {
      state.renditions.append(try Self.opened(entry, in: folder))
    }
    self.path = path
    self.folder = folder
    self.now = now
    self.state = Mutex(state)
  }

  private static let monotonicSeconds: @Sendable () -> Double = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// What an earlier run kept of a rendition, as far as the files are still there.
  private static func opened(
    _ entry: KeptRecord.Entry, in parent: KeptFolder
  ) throws(KeepingError) -> Kept {
    let folder = try KeptFolder(entry.folder, in: parent)
    folder.removeUnfinished()
    let read = folder.read(KeptRecord.file, limit: mostRecordBytes).flatMap(KeptSegments.init)
    let there = (read?.segments ?? []).filter { segment in
      folder.size(of: segment.file.name) == segment.file.bytes
        && segment.map.map { folder.size(of: $0.name) == $0.bytes } ?? true
    }
    var timeline = KeptTimeline(there.prefix(PlaylistLimits.segments).map(\.self))
    if let old = folder.read(playlistName, limit: PlaylistLimits.bytes) {
      timeline.followGaps(ofWritten: old)
    }
    return Kept(
      folder: folder, name: entry.folder, rendition: entry.rendition, timeline: timeline,
      isStale: there.count != read?.segments.count)
  }

  /// A name of digits and a word.
  static func fileName(_ number: Int, _ kind: String) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits + "." + kind
  }

  /// The first reason why something could not be written; nil while all is well.
  public var problem: KeepingError? { state.withLock { $0.problem } }

  // MARK: Keeping

  /// Tells the durations of a rendition's segments, so that gaps have the right length. To be called
  /// with each newer copy of a live playlist, too.
  public func follow(_ playlist: MediaPlaylist, of rendition: KeptRendition) {
    _ = guarded { (state) throws(KeepingError) in
      let index = try place(of: rendition, &state)
      state.renditions[index].timeline.follow(playlist)
    }
  }

  /// Keeps a segment. One that is kept already under this number is replaced where it is another.
  ///
  /// What is no sound, or is not whole, is not kept. Where writing fails, playing goes on as if there
  /// were no keeper, and the next segment is tried again.
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
      let index = try place(of: rendition, &state)
      do throws(KeepingError) {
        try state.renditions[index].keep(segment, body, format, map: map)
      } catch {
        if state.problem == nil { try? writeMakingRoom(&state) }
        throw error
      }
      state.isStale = true
      state.newest = (index, segment.sequence)
      let pause = max(1, 20 * state.writing)
      if now() - state.written >= pause { try write(&state) }
    }
  }

  /// Brings the playlists up to date. More can be kept after it.
  ///
  /// - Returns: why that failed, the first time only.
  @discardableResult
  public func finish() -> KeepingError? {
    guarded { (state) throws(KeepingError) in try writeMakingRoom(&state) }
  }

  /// Does something that may fail; tells only of the first failure.
  private func guarded(_ body: (inout State) throws(KeepingError) -> Void) -> KeepingError? {
    state.withLock { state in
      do throws(KeepingError) {
        try body(&state)
        return nil
      } catch {
        if state.problem != nil { return nil }
        state.problem = error
        return error
      }
    }
  }

  // MARK: What is there

  /// Whether a segment is there and whole: its size, its check sum and its format are looked at, the
  /// first time that it is asked for. One that is damaged is forgotten.
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

  // MARK: Files

  /// Where a rendition is among those that are kept; a new one gets a folder.
  private func place(
    of rendition: KeptRendition, _ state: inout State
  ) throws(KeepingError) -> Int {
    if let index = state.place(of: rendition) {
      let known = state.renditions[index].rendition
      guard known.uri != rendition.uri else { return index }
      state.renditions[index].rendition.uri = rendition.uri
      state.record.renditions[index].rendition.uri = rendition.uri
      try folder.write(state.record.bytes, to: KeptRecord.file)
      return index
    }
    var name = rendition.label
    var count = 1
    while state.renditions.contains(where: { $0.name == name }) {
      count += 1
      name = "\(rendition.label)-\(count)"
    }
    let kept = Kept(
      folder: try KeptFolder(name, in: folder), name: name, rendition: rendition,
      timeline: KeptTimeline())
    state.renditions.append(kept)
    state.record.renditions.append(.init(folder: name, rendition: rendition))
    try folder.write(state.record.bytes, to: KeptRecord.file)
    return state.renditions.count - 1
  }

  /// On a disk that is full the segment that came last makes room for the playlists, without which
  /// those before it would be lost.
  private func writeMakingRoom(_ state: inout State) throws(KeepingError) {
    do throws(KeepingError) { try write(&state) } catch {
      guard let newest = state.newest else { throw error }
      state.newest = nil
      state.renditions[newest.place].drop(newest.number)
      try write(&state)
    }
  }

  private func write(_ state: inout State) throws(KeepingError) {
    let start = now()
    // Also after a failure: what cannot be written now is not tried with every segment.
    defer {
      state.written = now()
      state.writing = state.written - start
    }
    guard state.isStale || state.renditions.contains(where: \.isStale) else { return }
    let first = state.renditions.compactMap(\.timeline.first).min()
    for index in state.renditions.indices
    where state.renditions[index].isStale || first != state.first {
      try state.renditions[index].write(from: first ?? 0)
    }
    state.first = first
    let rows = state.renditions.filter { $0.timeline.first != nil }.map { kept in
      KeptPlaylists.Row(
        folder: kept.name, rendition: kept.rendition, bitRates: kept.timeline.bitRates)
    }
    if rows.isEmpty {
      folder.remove(Self.masterName)
    } else {
      let text = KeptPlaylists(rows: rows).multivariant.text
      try folder.write(Array(text.utf8), to: Self.masterName)
    }
    folder.sync()
    state.isStale = false
  }
}
