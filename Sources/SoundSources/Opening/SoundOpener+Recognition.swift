// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import HLS
internal import Rendering

extension SoundOpener {
  /// Returns the location of a presentation; nil if the input is not a presentation.
  ///
  /// Network addresses, playlists and folders are presentations. The exception is a folder that
  /// contains a sound file (see `soundFile`) but no playlist.
  ///
  /// - Throws: `unsupportedAddress`, and any error from `PresentationPlace`.
  static func presentation(
    _ input: String, _ options: Options
  ) throws(SoundOpeningError) -> PresentationPlace? {
    let lower = input.lowercased()
    let isAddress = lower.hasPrefix("http://") || lower.hasPrefix("https://")
    if let scheme = unsupportedScheme(input) {
      throw .unsupportedAddress(input, scheme: scheme)
    }
    guard isAddress || isFolder(input) || isPlaylist(input) else { return nil }
    let place = try PresentationPlace(
      input, root: options.root, remedy: options.rootRemedy, network: options.network)
    let isEmpty = place.isFolder && place.folder?.playlists.isEmpty == true
    return isEmpty && soundFile(in: place.folder) != nil ? nil : place
  }

  /// Returns the scheme of an address if it is not supported, such as "ftp"; otherwise nil.
  ///
  /// An input is an address if it starts with ASCII letters or digits followed by "://", and is not
  /// the path of a file or folder.
  private static func unsupportedScheme(_ input: String) -> String? {
    guard let colon = input.firstIndex(of: ":"), input[colon...].hasPrefix("://") else {
      return nil
    }
    let scheme = input[..<colon].lowercased()
    let isScheme = scheme.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard isScheme, !scheme.isEmpty, !["http", "https", "file"].contains(scheme) else {
      return nil
    }
    return kind(of: input) == nil ? scheme : nil
  }

  /// Returns the path that the input names, or the input unchanged if it names none. If the input
  /// is a folder with the sound file of one programme, returns the path of that file.
  static func file(_ input: String) -> String {
    guard let path = path(of: input) else { return input }
    return isFolder(path) ? soundFile(in: PresentationFolder(path)) ?? path : path
  }

  /// File name extensions of sound files, in lower case.
  private static let kinds: Set = [
    "mp4", "m4a", "m4b", "mov", "mkv", "mka", "webm", "ts", "mts", "aac", "ac3", "ec3", "eac3",
    "mp3", "opus", "ogg", "oga", "flac", "wav", "w64", "caf", "aif", "aiff",
  ]

  /// The end of the names of unfinished downloads, after the file name extension.
  private static let unfinished = ".part"

  /// Returns the sound file in a folder; nil if there is none or the choice is not clear.
  ///
  /// The only file in the folder and its subfolders is returned whatever its name. If there are
  /// several files, the candidates are the sound files directly in the folder, except numbered
  /// fragments and initialisation segments. Unfinished downloads are candidates only if there are
  /// no others. If the names of all candidates agree up to the first dot, as in `title.f137.mp4`
  /// and `title.f140.m4a`, the largest candidate is returned.
  private static func soundFile(in folder: PresentationFolder?) -> String? {
    guard let folder else { return nil }
    if folder.paths.count == 1 { return folder.paths.first }
    let prefix = folder.path + "/"
    let all = folder.unnumberedPaths.filter { isSound($0.dropFirst(prefix.count)) }
    let finished = all.filter { !$0.hasSuffix(unfinished) }
    let files = finished.isEmpty ? all : finished
    let titles = Set(files.map { $0.dropFirst(prefix.count).prefix { $0 != "." } })
    guard titles.count == 1 else { return nil }
    return files.max { (size(of: $0), $0) < (size(of: $1), $1) }
  }

  /// Whether a path relative to the folder names a sound file directly in the folder that is not an
  /// initialisation segment.
  private static func isSound(_ name: Substring) -> Bool {
    let plain = name.hasSuffix(unfinished) ? name.dropLast(unfinished.count) : name
    let kind = plain.split(separator: ".").last.map { $0.lowercased() } ?? ""
    return !name.contains("/") && kinds.contains(kind) && !isInitialisation(name.lowercased())
  }

  /// Whether a word of a name ends in "init", as in `init-v1.mp4`, or is "initialisation", in
  /// either spelling.
  private static func isInitialisation(_ name: String) -> Bool {
    name.split { !$0.isLetter }.contains { word in
      word.hasSuffix("init") || ["initialisation", "initialization"].contains(word)
    }
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the path in a `file:` address, or other input unchanged; nil if the address is
  /// invalid.
  private static func path(of input: String) -> String? {
    guard input.lowercased().hasPrefix("file:") else { return input }
    guard case .file(let path)? = ResourceAddress(argument: input, in: "/") else { return nil }
    return path
  }

  private static func isFolder(_ input: String) -> Bool {
    path(of: input).flatMap(kind(of:)) == S_IFDIR
  }

  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// Returns whether a file is a playlist, by its file name extension or its first bytes.
  private static func isPlaylist(_ input: String) -> Bool {
    guard let path = path(of: input) else { return false }
    let lower = path.lowercased()
    if lower.hasSuffix(".m3u8") || lower.hasSuffix(".m3u") { return true }
    guard kind(of: path) == S_IFREG else { return false }
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 7)
    return read(descriptor, &bytes, 7) == 7 && bytes == Array("#EXTM3U".utf8)
  }
}
