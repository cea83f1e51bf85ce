// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HLS
import HTTPFetching

/// Where a presentation is that a user names, and how it is read.
struct PresentationPlace {
  let address: ResourceAddress
  /// What a downloader left, where the address is a path: the folder, or the playlist's.
  let folder: PresentationFolder?
  /// The address is that of the folder itself.
  let isFolder: Bool
  /// Asks again where that may help.
  let fetcher: any ResourceFetcher
  /// Asks once.
  let direct: any ResourceFetcher

  /// - Parameters:
  ///   - argument: a path, `file:`, `http:` or `https:`.
  ///   - root: the folder in which a downloaded presentation's files lie; nil for the playlist's own, or
  ///     one above it that has a playlist which names it.
  init(_ argument: String, root: String?) throws(CommandFailure) {
    let current = getcwd(nil, 0)
    defer { free(current) }
    let here = current.map { String(cString: $0) } ?? "/"
    guard let address = ResourceAddress(argument: argument, in: here) else {
      throw CommandFailure("'\(argument)' is neither a path nor an address of http or https")
    }
    self.address = address
    guard case .file(let path) = address else {
      (folder, isFolder) = (nil, false)
      direct = try makeFetcher(for: address, in: nil)
      fetcher = persistent(direct)
      return
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CommandFailure("cannot read '\(argument)': \(String(cString: strerror(errno)))")
    }
    isFolder = status.st_mode & S_IFMT == S_IFDIR
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
    let own = isFolder ? path : parent
    folder = PresentationFolder(root ?? Self.folder(around: own, of: path) ?? own)
    direct = try makeFetcher(for: address, in: folder)
    fetcher = persistent(direct)
  }

  /// The folder above, or two above, whose multivariant playlist names this one.
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

  /// Its playlists.
  func open(
    _ loader: PlaylistLoader, goesOn: () -> Bool
  ) throws(PresentationError) -> Presentation {
    if isFolder, let folder, case .file(let path) = address {
      return try loader.open(
        folder: PresentationFolder(path) ?? folder, goesOn: goesOn)
    }
    return try loader.open(address, goesOn: goesOn)
  }
}

private func persistent(_ fetcher: any ResourceFetcher) -> any ResourceFetcher {
  PersistentFetcher(fetcher) { seconds in usleep(useconds_t(seconds * 1e6)) }
}

/// What fetches for a presentation within its rules.
///
/// - Parameters:
///   - address: as the user named it; a host in it may be a private one.
///   - folder: what the presentation may read of this machine; nil where it is from a server.
func makeFetcher(
  for address: ResourceAddress, in folder: PresentationFolder?
) throws(CommandFailure) -> any ResourceFetcher {
  switch address {
  case .network(let text):
    guard let host = URL(string: text)?.host(), !host.isEmpty else {
      throw CommandFailure("'\(text)' names no host")
    }
    return HTTPFetcher(AccessRules(.server(host: host)))
  case .file(let path):
    guard let folder else {
      throw CommandFailure("the folder of '\(path)' cannot be read")
    }
    return FolderAndServerFetcher(
      files: FolderFetcher(folder), network: HTTPFetcher(AccessRules(.folder(folder.path))))
  }
}

/// Files from a folder; what its playlists name elsewhere from there, where it is public.
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
