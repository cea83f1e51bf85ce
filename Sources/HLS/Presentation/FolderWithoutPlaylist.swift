// SPDX-License-Identifier: Apache-2.0

extension PlaylistLoader {
  /// Returns the media playlists of a `.movpkg` folder; empty for any other folder, or if no stream
  /// lists a segment.
  func packaged(_ folder: PresentationFolder) -> [Loaded] {
    guard let package = MoviePackage({ read(folder.path + "/" + $0) }) else { return [] }
    return package.streams.map { stream in
      let name = stream.originalName ?? "StreamInfoBoot.xml"
      return Loaded(
        playlist: .media(stream.playlist),
        address: .file("\(folder.path)/\(stream.folder)/\(name)"))
    }
  }

  /// Returns a media playlist for each usable series of numbered fragments in a folder. The series
  /// with the most fragments comes first.
  ///
  /// The durations are calculated from the times or the ADTS headers in the fragments if possible,
  /// otherwise estimated. Missing numbers become gaps, unless more numbers are missing than
  /// present.
  ///
  /// - Throws: `.interrupted` if `goesOn` returned false.
  func fragments(
    in folder: PresentationFolder, goesOn: () -> Bool
  ) throws(PresentationError) -> [Loaded] {
    var found: [Loaded] = []
    for series in FragmentSeries.all(in: folder.paths) {
      guard let playlist = try playlist(of: series, folder, goesOn) else { continue }
      found.append(
        Loaded(
          playlist: .media(playlist), address: .file("\(series.folder)/\(series.prefix)")))
    }
    return found
  }

  private func read(_ path: String) -> [UInt8]? {
    let request = FetchRequest(.file(path), limit: SegmentLoader.mostBytes)
    return try? fetcher.fetch(request, goesOn: { _ in true }).bytes
  }

  /// Returns the media playlist of a series. The first fragment may be an initialisation section.
  /// Returns nil if the first of the other fragments cannot be read, has an unknown format or is an
  /// initialisation section too.
  private func playlist(
    of series: FragmentSeries, _ folder: PresentationFolder, _ goesOn: () -> Bool
  ) throws(PresentationError) -> MediaPlaylist? {
    var fragments = series.fragments
    var first = read(fragments[0].path)
    var map: (path: String, bytes: [UInt8])?
    if let bytes = first, bytes.isInitialisation {
      map = (fragments[0].path, bytes)
      fragments.removeFirst()
      first = fragments.first.flatMap { read($0.path) }
    }
    guard let bytes = first, let format = SegmentFormat(bytes), !bytes.isInitialisation else {
      return nil
    }
    if format == .fragmentedMP4, map == nil { map = initialisation(for: series, folder) }
    var pieces: [Piece] = []
    for fragment in fragments {
      guard goesOn() else { throw .interrupted }
      let bytes = read(fragment.path) ?? []
      let time = SegmentFormat(bytes).map {
        SegmentTime(bytes, format: $0, initialisation: map?.bytes ?? [])
      }
      pieces.append(
        Piece(fragment: fragment, start: time?.start, duration: time?.duration, bytes: bytes.count))
    }
    return MediaPlaylist(pieces, map: map.map { MediaMap(uri: $0.path) })
  }

  /// Finds the initialisation section for a series that does not contain one. Of the initialisation
  /// sections in the series' folder, returns the one whose file name shares the longest prefix with
  /// `series.prefix`; nil if there are none. Ignores subfolders.
  private func initialisation(
    for series: FragmentSeries, _ folder: PresentationFolder
  ) -> (path: String, bytes: [UInt8])? {
    let own = series.folder + "/"
    let parts = Set(series.fragments.map(\.path))
    let others = folder.paths.filter { path in
      path.hasPrefix(own) && !path.dropFirst(own.count).contains("/") && !parts.contains(path)
    }
    func common(_ path: String) -> Int { path.commonPrefix(with: own + series.prefix) }
    for path in others.sorted(by: { (common($1), $0) < (common($0), $1) }) {
      if let bytes = read(path), bytes.isInitialisation { return (path, bytes) }
    }
    return nil
  }
}

/// A numbered fragment with its start and duration in s (nil if unknown) and its size in bytes (0
/// if it cannot be read).
private struct Piece {
  var fragment: FragmentSeries.Fragment
  var start: Double?
  var duration: Double?
  var bytes: Int
}

extension MediaPlaylist {
  /// The bit rate, in bit/s, from which unknown durations are estimated. It is used only if no
  /// fragment whose successor is present has a known duration.
  private static let usualBitRate = 192_000.0

  /// Creates a playlist from fragments in ascending order of their numbers.
  fileprivate init(_ pieces: [Piece], map: MediaMap?) {
    let told = zip(pieces, pieces.dropFirst()).map { piece, next -> Double? in
      guard next.fragment.number == piece.fragment.number + 1 else { return nil }
      let difference = piece.start.flatMap { start in next.start.map { $0 - start } }
      return piece.duration ?? difference.flatMap { (0.01...120).contains($0) ? $0 : nil }
    }
    let known = told.compactMap(\.self).sorted()
    let usual = known.isEmpty ? nil : known[known.count / 2]
    let numbers = pieces.map(\.fragment.number)
    // If more numbers are missing than present, the numbers are probably times, so add no gaps.
    let missing = (numbers.last ?? 0) - (numbers.first ?? 0) + 1 - numbers.count
    let areCounts = missing <= pieces.count
    for (index, piece) in pieces.enumerated() {
      let guess = usual ?? max(0.1, Double(piece.bytes) * 8 / Self.usualBitRate)
      let duration = piece.duration ?? (index < told.count ? told[index] : nil) ?? guess
      var segment = MediaSegment(
        uri: piece.fragment.path, duration: duration, sequence: segments.count)
      segment.map = map
      segments.append(segment)
      guard areCounts, index + 1 < numbers.count else { continue }
      for _ in numbers[index] + 1..<max(numbers[index] + 1, numbers[index + 1]) {
        var gap = MediaSegment(uri: "missing", duration: guess, sequence: segments.count)
        gap.isGap = true
        segments.append(gap)
      }
    }
    targetDuration = (segments.map(\.duration).max() ?? 0).rounded(.up)
    (hasEnded, kind) = (true, .onDemand)
  }
}

extension [UInt8] {
  /// Whether these bytes are an MP4 initialisation section: complete boxes with a `moov` among
  /// them, but no `moof` or `mdat`.
  fileprivate var isInitialisation: Bool {
    var place = 0
    var hasMovie = false
    while let box = MP4Box(self, at: place) {
      if box.type == "moof" || box.type == "mdat" { return false }
      if box.type == "moov" { hasMovie = true }
      place = box.end
    }
    return hasMovie && place == count
  }
}

extension String {
  /// Returns the length of the longest prefix that both texts share, in characters.
  fileprivate func commonPrefix(with other: String) -> Int {
    zip(self, other).prefix { $0 == $1 }.count
  }
}
