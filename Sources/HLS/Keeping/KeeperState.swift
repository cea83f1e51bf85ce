// SPDX-License-Identifier: Apache-2.0

/// A rendition in its folder.
struct KeptFiles {
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

  /// What an earlier run kept of a rendition, as far as the files are still there.
  init(_ entry: KeptRecord.Entry, in parent: KeptFolder) throws(KeepingError) {
    folder = try KeptFolder(entry.folder, in: parent)
    (name, rendition) = (entry.folder, entry.rendition)
    folder.removeUnfinished()
    let read = folder.read(KeptRecord.file, limit: PresentationKeeper.mostRecordBytes)
      .flatMap(KeptSegments.init)
    let there = (read?.segments ?? []).filter { [folder] segment in
      folder.size(of: segment.file.name) == segment.file.bytes
        && segment.map.map { folder.size(of: $0.name) == $0.bytes } ?? true
    }
    timeline = KeptTimeline(there.prefix(PlaylistLimits.segments).map(\.self))
    isStale = there.count != read?.segments.count ?? 0
    if let old = folder.read(PresentationKeeper.playlistName, limit: PlaylistLimits.bytes) {
      timeline.followGaps(ofWritten: old)
    }
  }
}

/// What a keeper knows and has written.
struct KeeperState {
  private let folder: KeptFolder
  private let now: @Sendable () -> Double
  private var record: KeptRecord
  var renditions: [KeptFiles] = []
  var isStale = false
  /// The first reason why something could not be written.
  var problem: KeepingError?
  /// The user of the keeper knows of it.
  var isTold = false
  /// When the playlists were written last, and how long it took: seconds.
  private var written = -Double.infinity
  private var writing = 0.0
  /// The first segment of any rendition, when they were written.
  private var first: Int?
  /// The segment that was kept last, with the place of its rendition.
  private var newest: (place: Int, number: Int)?

  /// Opens a folder that is new, empty, or holds what was kept of the same source.
  init(_ path: String, source: String, now: @escaping @Sendable () -> Double) throws(KeepingError) {
    let folder = try KeptFolder(path: path)
    guard folder.lock() else { throw .isInUse(path: path) }
    (self.folder, self.now, record) = (folder, now, KeptRecord(source: source))
    if let bytes = folder.read(KeptRecord.file, limit: PresentationKeeper.mostRecordBytes),
      let old = KeptRecord(bytes)
    {
      guard old.source == source else { throw .holdsAnother(path: path, source: old.source) }
      record = old
    } else if folder.names.contains(where: { !$0.hasPrefix(".") && $0 != "lost+found" }) {
      throw .isForeign(path: path)
    }
    folder.removeUnfinished()
    // Also a test of whether the folder can be written at all.
    try folder.write(record.json, to: KeptRecord.file)
    for entry in record.renditions { renditions.append(try KeptFiles(entry, in: folder)) }
  }

  /// The place of the rendition of this address, else of the one that it likely is.
  func place(of rendition: KeptRendition) -> Int? {
    if let index = renditions.firstIndex(where: { $0.rendition.uri == rendition.uri }) {
      return index
    }
    let likely = renditions.indices.filter { renditions[$0].rendition.isLikely(rendition) }
    return likely.count == 1 ? likely[0] : nil
  }

  /// The same; a new rendition gets a folder.
  mutating func open(_ rendition: KeptRendition) throws(KeepingError) -> Int {
    if let index = place(of: rendition) {
      guard renditions[index].rendition.uri != rendition.uri else { return index }
      renditions[index].rendition.uri = rendition.uri
      record.renditions[index].rendition.uri = rendition.uri
      try folder.write(record.json, to: KeptRecord.file)
      return index
    }
    var name = rendition.label
    var count = 1
    while renditions.contains(where: { $0.name == name }) {
      count += 1
      name = "\(rendition.label)-\(count)"
    }
    let entry = KeptRecord.Entry(folder: name, rendition: rendition)
    renditions.append(try KeptFiles(entry, in: folder))
    record.renditions.append(entry)
    try folder.write(record.json, to: KeptRecord.file)
    return renditions.count - 1
  }

  mutating func keep(
    _ segment: MediaSegment, _ body: [UInt8], _ format: SegmentFormat, map: [UInt8]?,
    of rendition: KeptRendition
  ) throws(KeepingError) {
    let index = try open(rendition)
    do throws(KeepingError) {
      try renditions[index].keep(segment, body, format, map: map)
    } catch {
      if problem == nil { try? writeMakingRoom() }
      throw error
    }
    isStale = true
    newest = (index, segment.sequence)
    if now() - written >= max(1, 20 * writing) { try write() }
  }

  /// On a disk that is full the segment that came last makes room for the playlists, without which
  /// those before it would be lost.
  mutating func writeMakingRoom() throws(KeepingError) {
    do throws(KeepingError) { try write() } catch {
      guard let newest else { throw error }
      self.newest = nil
      renditions[newest.place].drop(newest.number)
      try write()
    }
  }

  /// Writes the playlists and records that are not up to date.
  private mutating func write() throws(KeepingError) {
    let start = now()
    // Also after a failure: what cannot be written now is not tried with every segment.
    defer {
      written = now()
      writing = written - start
    }
    guard isStale || renditions.contains(where: \.isStale) else { return }
    let first = renditions.compactMap(\.timeline.first).min()
    for index in renditions.indices where renditions[index].isStale || first != self.first {
      try renditions[index].write(from: first ?? 0)
    }
    self.first = first
    let rows = renditions.filter { $0.timeline.first != nil }.map { kept in
      KeptPlaylists.Row(
        folder: kept.name, rendition: kept.rendition, bitRates: kept.timeline.bitRates)
    }
    if rows.isEmpty {
      folder.remove(PresentationKeeper.masterName)
    } else {
      let text = KeptPlaylists(rows: rows).multivariant.text
      try folder.write(Array(text.utf8), to: PresentationKeeper.masterName)
    }
    folder.sync()
    isStale = false
  }
}
