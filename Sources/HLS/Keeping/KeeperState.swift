// SPDX-License-Identifier: Apache-2.0

/// A kept rendition and the files in its folder.
struct KeptFiles {
  let folder: KeptFolder
  let name: String
  var rendition: KeptRendition
  var timeline: KeptTimeline
  /// Numbers of the segments that `keep` wrote, or that `has` found intact.
  var verified: Set<Int> = []
  /// Names of the initialisation sections that `keep` wrote or found intact.
  var verifiedMaps: Set<String> = []
  /// Names of replaced segment files, to be removed after the next playlist is written.
  var obsolete: [String] = []
  /// Whether the record and the playlist on the disk are out of date.
  var isStale = false

  /// Opens the folder of a rendition, and creates it if it does not exist. Removes leftover
  /// temporary files. Reads the record and the playlist, if they exist. Ignores segments whose
  /// files are missing or do not have the recorded size, and segments beyond the first
  /// `PlaylistLimits.segments`.
  ///
  /// - Throws: `.cannotWrite` if the folder cannot be opened or created.
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

/// The folder, the record and the renditions of a `PresentationKeeper`.
struct KeeperState {
  private let folder: KeptFolder
  private let now: @Sendable () -> Double
  private var record: KeptRecord
  var renditions: [KeptFiles] = []
  var isStale = false
  /// The first write error; nil if there was none.
  var problem: KeepingError?
  /// Whether `PresentationKeeper.keep` or `finish` has returned `problem`.
  var isTold = false
  /// Time at which the last attempt to write the playlists ended, in s.
  private var written = -Double.infinity
  /// Duration of the last attempt to write the playlists, in s.
  private var writing = 0.0
  /// The lowest segment number of all renditions when the playlists were last written; nil if there
  /// was no segment, or before the first write.
  private var first: Int?
  /// The rendition index and the number of the segment that this object kept last; nil if it has
  /// kept none or deleted that segment.
  private var newest: (place: Int, number: Int)?

  /// Opens a folder, and creates it if it does not exist. Apart from hidden files and `lost+found`,
  /// the folder must be empty or contain what was kept from the same source.
  ///
  /// - Throws: the reason why nothing can be kept in the folder.
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
    // Write the record even if it is unchanged: this shows whether the folder is writable.
    try folder.write(record.json, to: KeptRecord.file)
    for entry in record.renditions { renditions.append(try KeptFiles(entry, in: folder)) }
  }

  /// Returns the index of the rendition with the same address. If there is none, returns the index
  /// of the only rendition for which `isLikely` is true; nil unless there is exactly one.
  func place(of rendition: KeptRendition) -> Int? {
    if let index = renditions.firstIndex(where: { $0.rendition.uri == rendition.uri }) {
      return index
    }
    let likely = renditions.indices.filter { renditions[$0].rendition.isLikely(rendition) }
    return likely.count == 1 ? likely[0] : nil
  }

  /// Returns the index of a rendition. Creates a folder if the rendition is new. Updates the record
  /// if the rendition's address has changed.
  ///
  /// - Throws: `.cannotWrite` if the folder cannot be opened or created, or the record cannot be
  ///   written.
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

  /// Writes the playlists and records. If this fails, frees space by deleting the segment that was
  /// kept last, and tries again. Without the new records, all segments since the last write would
  /// be lost.
  ///
  /// - Throws: the error if there is no segment to delete, or if the second attempt also fails.
  mutating func writeMakingRoom() throws(KeepingError) {
    do throws(KeepingError) { try write() } catch {
      guard let newest else { throw error }
      self.newest = nil
      renditions[newest.place].drop(newest.number)
      try write()
    }
  }

  /// The range from the lowest to the highest segment number of all renditions; nil if no segment
  /// is kept.
  var numbers: ClosedRange<Int>? {
    let all = renditions.flatMap { [$0.timeline.first, $0.timeline.last] }.compactMap(\.self)
    guard let first = all.min(), let last = all.max() else { return nil }
    return first...last
  }

  /// The renditions that the multivariant playlist lists: those that every player can play
  /// completely or, if there are none, all renditions with kept segments.
  ///
  /// Every player can play a rendition that has no gaps, begins with the lowest kept segment number
  /// of all renditions, and ends at about the same time as the longest rendition.
  private var listed: [KeptFiles] {
    let kept = renditions.filter { $0.timeline.first != nil }
    let longest = kept.map { $0.timeline.seconds(from: first ?? 0) }.max() ?? 0
    let whole = kept.filter { kept in
      let timeline = kept.timeline
      return timeline.first == first && timeline.hasNoGaps
        && longest - timeline.seconds(from: first ?? 0) <= 2 * timeline.longestSegment
    }
    return whole.isEmpty ? kept : whole
  }

  /// Writes the playlists and records that are out of date.
  private mutating func write() throws(KeepingError) {
    let start = now()
    // Set the time even after a failure, so that a failing write is not repeated for each segment.
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
    let rows = listed.map { kept in
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
