// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
private import Glibc
package import HLS
private import HTTPFetching
package import Rendering

/// The location of a presentation that the user names, and the fetchers that read it.
package struct PresentationPlace {
  package let address: ResourceAddress
  /// The folder with the downloaded files of the presentation; nil for a network address.
  package let folder: PresentationFolder?
  /// Whether the address refers to a folder rather than a playlist.
  package let isFolder: Bool
  /// A fetcher that repeats a failed request if another attempt may succeed.
  package let fetcher: any ResourceFetcher
  /// A fetcher that makes each request once.
  let direct: any ResourceFetcher

  /// Locates a presentation.
  ///
  /// - Parameters:
  ///   - argument: a path, or a `file:`, `http:` or `https:` URL.
  ///   - root: the folder that contains the files of a downloaded presentation; nil to choose it as
  ///     `SoundOpener.Options.root` describes. It is ignored for a network address.
  ///   - remedy: advice on choosing another root, for error messages; nil for none.
  ///   - network: the time limit for slow fetches, and a function that receives the progress of
  ///     long fetches.
  /// - Throws: `SoundOpeningError.noAddress`, `.noHost`, `.unreadable` or `.unreadableFolder`.
  package init(
    _ argument: String, root: String?, remedy: String?, network: NetworkPatience = .init()
  ) throws(SoundOpeningError) {
    let current = getcwd(nil, 0)
    defer { free(current) }
    let here = current.map { String(cString: $0) } ?? "/"
    guard let address = ResourceAddress(argument: argument, in: here) else {
      throw .noAddress(argument)
    }
    self.address = address
    switch address {
    case .network(let text):
      guard let host = URL(string: text)?.host(), !host.isEmpty else { throw .noHost(text) }
      (folder, isFolder) = (nil, false)
      direct = HTTPFetcher(AccessRules(.server(host: host)), patience: network)
    case .file(let path):
      var status = stat()
      guard stat(path, &status) == 0 else {
        throw .unreadable(argument, reason: String(cString: strerror(errno)))
      }
      isFolder = status.st_mode & S_IFMT == S_IFDIR
      let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
      let own = isFolder ? path : parent
      let shared = root ?? Self.folder(around: own, of: path) ?? own
      folder = PresentationFolder(shared)
      guard let folder else { throw .unreadableFolder(path: shared) }
      direct = FolderAndServerFetcher(
        files: FolderFetcher(folder, remedy: remedy),
        network: HTTPFetcher(AccessRules(.folder(folder.path)), patience: network))
    }
    var persistence = PersistentFetcher.Persistence()
    persistence.seconds = network.seconds
    fetcher = PersistentFetcher(direct, persistence: persistence) { seconds in
      usleep(useconds_t(seconds * 1e6))
    }
  }

  /// Returns a folder one or two levels above `own` with a multivariant playlist that refers to the
  /// file `path`; nil if there is none.
  private static func folder(around own: String, of path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    let name = String(cString: real)
    for above in ["..", "../.."] {
      guard let folder = PresentationFolder("\(own)/\(above)", depth: 0) else { continue }
      for playlist in folder.playlists where folder.names(name, in: playlist) { return folder.path }
    }
    return nil
  }

  /// Opens the playlists of the presentation.
  ///
  /// - Throws: `PresentationError`, which is `.interrupted` if `goesOn` returned false.
  package func open(
    _ loader: PlaylistLoader, goesOn: () -> Bool
  ) throws(PresentationError) -> Presentation {
    if isFolder, let folder, case .file(let path) = address {
      return try loader.open(folder: PresentationFolder(path) ?? folder, goesOn: goesOn)
    }
    return try loader.open(address, goesOn: goesOn)
  }
}

/// Reads files from a folder, and fetches other resources from servers with public IP addresses.
private struct FolderAndServerFetcher: ResourceFetcher {
  let files: FolderFetcher
  let network: HTTPFetcher

  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    if case .file = request.address { return try files.fetch(request, goesOn: goesOn) }
    return try network.fetch(request, goesOn: goesOn)
  }
}
