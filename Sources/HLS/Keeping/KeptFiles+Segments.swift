// SPDX-License-Identifier: Apache-2.0

private import System

extension KeptFiles {
  /// Writes a segment and its initialisation section, unless identical files are known to exist.
  ///
  /// - Throws: `.cannotWrite` if a file cannot be written or the rendition is full.
  mutating func keep(
    _ segment: MediaSegment, _ body: [UInt8], _ format: SegmentFormat, map: [UInt8]?
  ) throws(KeepingError) {
    let number = segment.sequence
    let old = timeline.segments[number]
    guard old != nil || !timeline.isFull else {
      throw .cannotWrite(
        path: folder.path,
        reason: "the rendition already has \(PlaylistLimits.segments) segments, which is the limit")
    }
    var mapFile: KeptFile?
    if let map {
      let sum = String(CRC32.of(map), radix: 16)
      let file = KeptFile(name: "init-\(sum)-\(map.count).mp4", map)
      if !verifiedMaps.contains(file.name), !isWhole(file) {
        try folder.write(map, to: file.name)
      }
      verifiedMaps.insert(file.name)
      mapFile = file
    }
    let name = PresentationKeeper.fileName(number, format.nameExtension)
    let new = KeptSegment(segment, file: KeptFile(name: name, body), map: mapFile)
    if new == old, verified.contains(number) { return }
    try folder.write(body, to: name)
    if let old, old.file.name != name { obsolete.append(old.file.name) }
    obsolete.removeAll { $0 == name }
    timeline.take(new)
    verified.insert(number)
    isStale = true
  }

  /// Writes the record, then the playlist. Then removes the obsolete files.
  ///
  /// - Parameter first: the lowest number of a kept segment in any rendition.
  /// - Throws: `.cannotWrite` if a file cannot be written.
  mutating func write(from first: Int) throws(KeepingError) {
    folder.sync()
    let segments = timeline.segments.values.sorted { $0.number < $1.number }
    try folder.write(KeptSegments(segments).json, to: KeptRecord.file)
    let text = timeline.playlist(from: first).text
    try folder.write(Array(text.utf8), to: PresentationKeeper.playlistName)
    folder.sync()
    for name in obsolete { folder.remove(name) }
    obsolete = []
    isStale = false
  }

  mutating func has(_ segment: MediaSegment) -> Bool {
    guard let kept = timeline.segments[segment.sequence], kept.isOf(segment) else { return false }
    if verified.contains(kept.number) { return true }
    guard isWhole(kept) else {
      if let map = kept.map { verifiedMaps.remove(map.name) }
      forget(kept.number)
      return false
    }
    verified.insert(kept.number)
    return true
  }

  mutating func damaged(_ goesOn: (Int) -> Bool) -> [Int] {
    var damaged: [Int] = []
    for segment in timeline.segments.values.sorted(by: { $0.number < $1.number }) {
      if !isWhole(segment) {
        damaged.append(segment.number)
        if let map = segment.map { verifiedMaps.remove(map.name) }
      }
      guard goesOn(segment.number) else { break }
    }
    for number in damaged { forget(number) }
    return damaged
  }

  /// Deletes a segment's file, and removes the segment from the timeline.
  mutating func drop(_ number: Int) {
    guard let segment = timeline.segments[number] else { return }
    folder.remove(segment.file.name)
    forget(number)
  }

  private mutating func forget(_ number: Int) {
    timeline.remove(number)
    verified.remove(number)
    isStale = true
  }

  private func isWhole(_ segment: KeptSegment) -> Bool {
    guard let body = folder.read(segment.file.name, limit: PresentationKeeper.mostSegmentBytes),
      segment.file.fits(body), let format = SegmentFormat(body), format.problem(body) == nil
    else { return false }
    return segment.map.map(isWhole) ?? true
  }

  private func isWhole(_ file: KeptFile) -> Bool {
    folder.read(file.name, limit: PresentationKeeper.mostSegmentBytes).map(file.fits) ?? false
  }
}

extension SegmentFormat {
  fileprivate var nameExtension: String {
    switch self {
    case .transportStream: "ts"
    case .fragmentedMP4: "m4s"
    case .aac: "aac"
    case .ac3: "ac3"
    case .mpegAudio: "mp3"
    }
  }
}
