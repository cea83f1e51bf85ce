// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import HLS

/// Answers requests from a table and records them.
private final class ScriptedFetcher: ResourceFetcher {
  private let answers: Mutex<[String: [Result<String, FetchError>]]>
  let requests = Mutex<[String]>([])

  init(_ answers: [String: [Result<String, FetchError>]]) { self.answers = Mutex(answers) }

  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    let address = request.address.description
    requests.withLock { $0.append(address) }
    guard goesOn(FetchTiming()) else { throw .interrupted }
    let answer = answers.withLock { answers -> Result<String, FetchError> in
      guard let list = answers[address], let first = list.first else {
        return .failure(.status(404, retryAfter: nil))
      }
      if list.count > 1 { answers[address]?.removeFirst() }
      return first
    }
    return FetchedResource(
      bytes: Array(try answer.get().utf8), timing: FetchTiming(), address: request.address)
  }
}

@Suite struct PresentationTests {
  private let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nseg.ts\n#EXT-X-ENDLIST\n"

  private func master(_ uris: [String]) -> String {
    "#EXTM3U\n" + uris.map { "#EXT-X-STREAM-INF:BANDWIDTH=1000\n\($0)\n" }.joined()
  }

  @Test func transientErrorsAreRetried() throws {
    let waits = Mutex<[Double]>([])
    func fetcher(_ scripted: ScriptedFetcher) -> PersistentFetcher {
      PersistentFetcher(scripted) { seconds in waits.withLock { $0.append(seconds) } }
    }
    let busy = FetchError.status(503, retryAfter: 1)
    let good = ScriptedFetcher([
      "http://h/a": [.failure(busy), .failure(.timedOut(seconds: 8)), .success("x")]
    ])
    let request = FetchRequest(.network("http://h/a"), limit: 10)
    #expect(try fetcher(good).fetch(request) { _ in true }.bytes == Array("x".utf8))
    #expect(abs(waits.withLock { $0.reduce(0, +) } - 1.5) < 0.1)
    let bad = ScriptedFetcher(["http://h/a": [.failure(busy)]])
    #expect(throws: busy) { try fetcher(bad).fetch(request) { _ in true } }
    #expect(bad.requests.withLock { $0.count } == 4)
    let gone = ScriptedFetcher([:])
    #expect(throws: FetchError.status(404, retryAfter: nil)) {
      try fetcher(gone).fetch(request) { _ in true }
    }
    #expect(gone.requests.withLock { $0.count } == 1)
    let calls = Mutex(0)
    #expect(throws: FetchError.interrupted) {
      try fetcher(bad).fetch(request) { _ in
        calls.withLock {
          $0 += 1
          return $0 < 3
        }
      }
    }
  }

  @Test func loaderOpensMediaMultivariantAndNestedPlaylists() throws {
    let fetcher = ScriptedFetcher([
      "http://h/m.m3u8": [.success(master(["a/p.m3u8", "b/p.m3u8"]))],
      "http://h/p.m3u8": [.success(media)],
      "http://h/outer.m3u8": [.success(master(["m.m3u8"]))],
      "http://h/loop.m3u8": [.success(master(["loop.m3u8"]))],
      "http://h/text": [.success("<html>")],
    ])
    let loader = PlaylistLoader(fetcher, folder: nil)
    guard case .multivariant(let playlist, _) = try loader.open(.network("http://h/m.m3u8")) else {
      Issue.record("no multivariant playlist")
      return
    }
    #expect(playlist.variants.count == 2)
    guard case .media(let list) = try loader.open(.network("http://h/p.m3u8")) else {
      Issue.record("no media playlist")
      return
    }
    #expect(list.count == 1)
    guard case .multivariant(_, let address) = try loader.open(.network("http://h/outer.m3u8"))
    else {
      Issue.record("no multivariant playlist")
      return
    }
    #expect(address == .network("http://h/m.m3u8"))
    #expect {
      try loader.open(.network("http://h/loop.m3u8"))
    } throws: {
      "\($0)".hasSuffix("playlists may be nested at most 3 levels deep")
    }
    #expect {
      try loader.open(.network("http://h/text"))
    } throws: {
      "\($0)" == "'http://h/text' is not a valid playlist: it does not begin with #EXTM3U"
    }
    #expect {
      try loader.open(.network("http://h/none"))
    } throws: {
      "\($0)" == "cannot read 'http://h/none': the server answered with status 404"
    }
    #expect(throws: PresentationError.interrupted) {
      try loader.open(.network("http://h/m.m3u8"), goesOn: { false })
    }
  }

  @Test func foldersOpenWithAndWithoutAMultivariantPlaylist() throws {
    let folder = TemporaryFolder()
    try folder.write(media, to: "a.m3u8")
    try folder.write(media, to: "b.m3u8")
    try folder.write("#EXTM3U\n", to: "empty.m3u8")
    try folder.write("sound", to: "seg.ts")
    let mediaOnly = try #require(PresentationFolder(folder.path))
    let loader = PlaylistLoader(FolderFetcher(mediaOnly), folder: mediaOnly)
    guard case .media(let list) = try loader.open(folder: mediaOnly) else {
      Issue.record("no media playlists")
      return
    }
    #expect(list.map(\.address.name) == ["a.m3u8", "b.m3u8"])
    #expect(
      try loader.address(of: "https://old.example/x/seg.ts?y", in: list[0].address)
        == .file(mediaOnly.path + "/seg.ts"))
    #expect(
      try loader.address(of: "https://old.example/x/other.ts", in: list[0].address)
        == .network("https://old.example/x/other.ts"))
    try folder.write(master(["a.m3u8", "b.m3u8"]), to: "z.m3u8")
    let withMultivariant = try #require(PresentationFolder(folder.path))
    guard case .multivariant(let playlist, _) = try loader.open(folder: withMultivariant) else {
      Issue.record("no multivariant playlist")
      return
    }
    #expect(playlist.variants.map(\.uri) == ["a.m3u8", "b.m3u8"])
    let emptyFolder = TemporaryFolder()
    let empty = try #require(PresentationFolder(emptyFolder.path))
    #expect {
      try PlaylistLoader(FolderFetcher(empty), folder: empty).open(folder: empty)
    } throws: {
      "\($0)".contains("contains nothing to play: it contains no usable playlist")
    }
  }
}
