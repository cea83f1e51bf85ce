// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import HLS

/// A server in memory. It returns bodies by address and records all requests.
private final class MemoryServer: ResourceFetcher {
  let bodies: Mutex<[String: Result<[UInt8], FetchError>]>
  let requests = Mutex<[String]>([])

  init(_ bodies: [String: [UInt8]]) {
    self.bodies = Mutex(bodies.mapValues { .success($0) })
  }

  func set(_ name: String, _ result: Result<[UInt8], FetchError>) {
    bodies.withLock { $0["http://h/" + name] = result }
  }

  var names: [String] { requests.withLock { $0.map { String($0.dropFirst("http://h/".count)) } } }
  func clearRequests() { requests.withLock { $0 = [] } }

  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    let address = request.address.description
    requests.withLock { $0.append(address) }
    guard goesOn(FetchTiming()) else { throw .abandoned(FetchTiming()) }
    guard let body = bodies.withLock({ $0[address] }) else { throw .status(404, retryAfter: nil) }
    var bytes = try body.get()
    if let range = request.range {
      guard range.end <= bytes.count else { throw .tooShort(expected: range.length, got: 0) }
      bytes = Array(bytes[range.offset..<range.end])
    }
    guard bytes.count <= request.limit else { throw .tooLong(limit: request.limit) }
    return FetchedResource(bytes: bytes, timing: FetchTiming(), address: request.address)
  }
}

@Suite struct DownloadTests {
  private let made = TemporaryFolder()
  private var path: String { made.path + "/kept" }
  private let base = "http://h/"
  private let end = "#EXT-X-ENDLIST\n"

  private func list(_ lines: [String]) -> [UInt8] {
    Array((["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines).joined(separator: "\n").utf8)
  }

  /// Makes a server with the segments `s0.ts` and so on, and their playlist `p.m3u8`.
  private func server(_ count: Int) -> MemoryServer {
    var bodies = [base + "p.m3u8": list((0..<count).map { "#EXTINF:4,\ns\($0).ts" } + [end])]
    for number in 0..<count { bodies[base + "s\(number).ts"] = MadeSegments.stream(UInt64(number)) }
    return MemoryServer(bodies)
  }

  private func fetch(
    _ server: MemoryServer, _ name: String = "p.m3u8",
    _ selection: RenditionSelection = RenditionSelection(), goesOn: () -> Bool = { true }
  ) throws -> PresentationDownload.Outcome {
    let loader = PlaylistLoader(server, folder: nil)
    let presentation = try loader.open(.network(base + name))
    let jobs = try loader.jobs(for: presentation, selection, goesOn: { true })
    let keeper = try PresentationKeeper(folder: path, source: base + name)
    return PresentationDownload(server, loader, into: keeper).run(jobs, goesOn: goesOn)
  }

  @Test func laterRunsFetchOnlyMissingSegments() throws {
    let server = server(5)
    let first = try fetch(server)
    #expect(first.isComplete && first.fetched == 5 && first.bytes == 5 * 752)
    try expectValidPresentation(path)
    server.clearRequests()
    let second = try fetch(server)
    #expect(second.isComplete && second.fetched == 0 && second.present == 5)
    #expect(server.names == ["p.m3u8"])
    try MadeSegments.put([1, 2, 3], path + "/audio/00003.ts")
    server.clearRequests()
    let third = try fetch(server)
    #expect(third.isComplete && third.fetched == 1 && third.present == 4)
    #expect(server.names == ["p.m3u8", "s3.ts"])
    #expect(try MadeSegments.bytes(path + "/audio/00003.ts") == MadeSegments.stream(3))
  }

  @Test func missingSegmentsAreReportedAndBecomeGaps() throws {
    let server = server(8)
    server.set("s2.ts", .failure(.status(404, retryAfter: nil)))
    server.set("s4.ts", .success(Array("<html>".utf8)))
    server.set("s5.ts", .success(MadeSegments.stream(5).dropLast(100).map(\.self)))
    server.set("s6.ts", .success([UInt8](repeating: 0x47, count: 64 << 20 + 1)))
    let outcome = try fetch(server)
    #expect(!outcome.isComplete && outcome.fetched == 4)
    #expect(
      outcome.missing.map { "\($0.number): \($0.reason)" } == [
        "2: the server answered with status 404", "4: the segment is not audio but an HTML page",
        "5: the segment ends within a transport packet", "6: the data exceed 64 MiB",
      ])
    let kept = try #require(try expectValidPresentation(path).values.first)
    #expect(kept.map(\.isGap) == [false, false, true, false, true, true, true, false])
    server.set("s2.ts", .success(MadeSegments.stream(2)))
    #expect(try fetch(server).missing.map(\.number) == [4, 5, 6])
  }

  @Test func downloadEndsAfterRepeatedConnectionErrors() throws {
    let server = server(200)
    for number in 20..<200 {
      server.set(
        "s\(number).ts",
        .failure(.connection("the host refuses the connection or cannot be reached")))
    }
    let outcome = try fetch(server)
    #expect(outcome.fetched == 20 && outcome.missing.count == 180)
    #expect(server.names.count == 1 + 20 + PresentationDownload.patience)
    #expect(outcome.missing.last?.reason == "no request was made, because earlier requests failed")
    #expect(try expectValidPresentation(path).values.first?.count == 20)
  }

  @Test func interruptedDownloadLeavesAValidPresentation() throws {
    let server = server(50)
    let count = Mutex(0)
    let outcome = try fetch(
      server,
      goesOn: {
        count.withLock {
          $0 += 1
          return $0 < 40
        }
      })
    #expect(outcome.isInterrupted && !outcome.isComplete)
    #expect((10..<40).contains(outcome.fetched) && outcome.missing.isEmpty)
    #expect(try expectValidPresentation(path).values.first?.count == outcome.fetched)
    let rest = try fetch(server)
    #expect(rest.isComplete && rest.present == outcome.fetched)
  }

  /// Downloads what OpenSSL has encrypted: with two keys, with and without an explicit vector, as
  /// byte ranges of one file, and with an initialisation section.
  @Test func encryptionByteRangesAndMapsAreResolved() throws {
    let server = MemoryServer([:])
    let keys = (0..<2).map { key in (0..<16).map { UInt8($0 * 7 + key) } }
    for (name, key) in zip(["k0", "k1"], keys) { server.set(name, .success(key)) }
    let clear = (0..<4).map { MadeSegments.fragment(UInt8($0)) }
    var whole: [UInt8] = []
    var lines = [#"#EXT-X-MAP:URI="all.mp4",BYTERANGE="9@0""#]
    whole += MadeSegments.box("ftyp", [7])
    for number in 0..<4 {
      let vector = [UInt8](repeating: 0, count: 15) + [number < 2 ? 9 : UInt8(number)]
      let encryptedBytes = try encrypted(clear[number], keys[number / 2], vector)
      let explicit = number < 2 ? ",IV=0x9" : ""
      lines += [
        "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number / 2)\"\(explicit)",
        "#EXT-X-BYTERANGE:\(encryptedBytes.count)@\(whole.count)", "#EXTINF:4,", "all.mp4",
      ]
      whole += encryptedBytes
    }
    server.set("all.mp4", .success(whole))
    server.set("p.m3u8", .success(list(lines + ["#EXT-X-GAP", "#EXTINF:4,", "none.mp4", end])))
    let outcome = try fetch(server)
    #expect(outcome.isComplete && outcome.fetched == 4 && outcome.gaps == 1)
    for number in 0..<4 {
      #expect(try MadeSegments.bytes(path + "/audio/0000\(number).m4s") == clear[number])
    }
    let kept = try #require(try expectValidPresentation(path).values.first)
    #expect(kept.allSatisfy { $0.keys.isEmpty && $0.range == nil && $0.map != nil })
    #expect(server.names.count { $0 == "k0" } == 1)
    #expect(server.names.count { $0 == "all.mp4" } == 5)
  }

  private func encrypted(_ bytes: [UInt8], _ key: [UInt8], _ vector: [UInt8]) throws -> [UInt8] {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    try MadeSegments.put(bytes, made.file("clear"))
    _ = try ProgramRun.of(
      "openssl",
      [
        "enc", "-aes-128-cbc", "-K", hex(key), "-iv", hex(vector), "-in", made.file("clear"),
        "-out", made.file("secret"),
      ])
    return try MadeSegments.bytes(made.file("secret"))
  }

  @Test(arguments: [
    (15, "the decryption key must have 16 bytes, but has 15"),
    (17, "the decryption key must have 16 bytes, but has 17"),
    (5000, "the decryption key has more than 16 bytes"),
    (-1, "the decryption key cannot be fetched: the server answered with status 404"),
    (16, "the encrypted data are damaged, or the key or initialisation vector is wrong"),
  ])
  func invalidKeysAreReported(count: Int, reason: String) throws {
    let server = server(1)
    if count >= 0 { server.set("k", .success([UInt8](repeating: 1, count: count))) }
    server.set(
      "p.m3u8",
      .success(list([#"#EXT-X-KEY:METHOD=AES-128,URI="k""#, "#EXTINF:4,", "s0.ts", end])))
    #expect(try fetch(server).missing.map(\.reason) == [reason])
  }

  @Test func unsupportedPlaylistsAreRefusedBeforeWriting() throws {
    let server = server(1)
    let entry = ["#EXTINF:4,", "s0.ts"]
    for (lines, reason) in [
      (entry, "'http://h/p.m3u8' is live"),
      ([end], "'http://h/p.m3u8' contains no segments"),
      (
        [#"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple""#] + entry + [end],
        "'http://h/p.m3u8' cannot be fetched: "
          + "the encryption of the sound is not supported: SAMPLE-AES"
      ),
      (["#EXT-X-I-FRAMES-ONLY"] + entry + [end], "the presentation contains no sound"),
    ] {
      server.set("p.m3u8", .success(list(lines)))
      #expect {
        try fetch(server)
      } throws: {
        "\($0)".hasPrefix(reason)
      }
    }
    #expect(MadeSegments.names(made.path).isEmpty)
  }

  /// A hostile playlist refers neither to local files nor to anything outside the server.
  @Test func playlistAddressesNeverBecomeLocalFiles() throws {
    let server = server(1)
    server.set(
      "p.m3u8",
      .success(
        list([
          "#EXTINF:4,", "file:///etc/passwd", "#EXTINF:4,", "../../../x.ts", "#EXTINF:4,", "s0.ts",
          end,
        ])))
    let outcome = try fetch(server)
    #expect(outcome.fetched == 1 && outcome.missing.map(\.number) == [0, 1])
    #expect(
      server.requests.withLock { $0 } == [
        "http://h/p.m3u8", "file:///etc/passwd", "http://h/x.ts", "http://h/s0.ts",
      ])
  }

  // MARK: Redundant variants

  /// Makes a server with one rendition on two pathways, `a` and `b`, of `count` segments each.
  private func redundantServer(_ count: Int, steering: String = "") -> MemoryServer {
    var bodies: [String: [UInt8]] = [:]
    var lines = ["#EXTM3U", steering]
    for site in ["a", "b"] {
      lines += [
        "#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS=\"mp4a.40.2\",PATHWAY-ID=\"\(site)\"",
        "\(site).m3u8",
      ]
      bodies[base + "\(site).m3u8"] = list(
        (0..<count).map { "#EXTINF:4,\n\(site)\($0).ts" } + [end])
      for number in 0..<count {
        bodies[base + "\(site)\(number).ts"] = MadeSegments.stream(UInt64(number))
      }
    }
    bodies[base + "m.m3u8"] = Array(lines.joined(separator: "\n").utf8)
    return MemoryServer(bodies)
  }

  @Test func redundantPlaylistReplacesOneThatIsMissing() throws {
    let server = redundantServer(3)
    server.set("a.m3u8", .failure(.status(404, retryAfter: nil)))
    let loader = PlaylistLoader(server, folder: nil)
    let jobs = try loader.jobs(
      for: loader.open(.network(base + "m.m3u8")), RenditionSelection(), goesOn: { true })
    #expect(jobs.count == 1 && jobs[0].notes.count == 1)
    #expect(jobs[0].notes.first?.contains("404") == true)
    let outcome = try fetch(server, "m.m3u8")
    #expect(outcome.isComplete && outcome.fetched == 3)
  }

  /// Each site lacks a segment that the other one has.
  @Test func segmentsAreFetchedFromRedundantPlaylists() throws {
    let server = redundantServer(6)
    server.set("a2.ts", .failure(.status(404, retryAfter: nil)))
    server.set("b4.ts", .failure(.status(404, retryAfter: nil)))
    let outcome = try fetch(server, "m.m3u8")
    #expect(outcome.isComplete && outcome.fetched == 6, "\(outcome)")
    #expect(outcome.switches.count == 2, "\(outcome.switches)")
    #expect(outcome.switches.first?.contains("b.m3u8' replaces") == true)
    for number in 0..<6 {
      let found = try ProgramRun.of("find", [path, "-name", "0000\(number).ts"]).output
      let file = try #require(found.split(separator: "\n").first.map(String.init))
      #expect(try MadeSegments.bytes(file) == MadeSegments.stream(UInt64(number)))
    }
  }

  @Test func allRenditionsIncludeRedundantOnesOnce() throws {
    var selection = RenditionSelection()
    selection.wish = .all
    let outcome = try fetch(redundantServer(2), "m.m3u8", selection)
    #expect(outcome.isComplete && outcome.fetched == 2, "\(outcome)")
  }

  // MARK: Content steering

  private let steering = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"steer\",PATHWAY-ID=\"a\""

  @Test func steeringManifestOrdersThePathways() throws {
    let server = redundantServer(2, steering: steering)
    server.set(
      "steer?_HLS_pathway=%22a%22",
      .success(Array(#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["b","a"]}"#.utf8)))
    let outcome = try fetch(server, "m.m3u8")
    #expect(outcome.isComplete && outcome.fetched == 2)
    #expect(server.names == ["m.m3u8", "steer?_HLS_pathway=%22a%22", "b.m3u8", "b0.ts", "b1.ts"])
  }

  @Test(arguments: ["<html>", #"{"VERSION":2,"PATHWAY-PRIORITY":["b"]}"#, "", nil] as [String?])
  func unusableSteeringManifestIsNoted(_ manifest: String?) throws {
    let server = redundantServer(1, steering: steering)
    if let manifest { server.set("steer?_HLS_pathway=%22a%22", .success(Array(manifest.utf8))) }
    let opened = try PlaylistLoader(server, folder: nil).open(.network(base + "m.m3u8"))
    guard case .multivariant(let playlist, _) = opened else {
      Issue.record("no multivariant playlist")
      return
    }
    #expect(playlist.pathways.isEmpty && playlist.notes.count == 1)
    #expect(playlist.notes.first?.contains("steering manifest 'steer'") == true)
    #expect(Ladder(from: playlist).map(\.uri) == ["a.m3u8"])
  }

  /// The listener has not cancelled anything if the manifest only arrives too late.
  @Test func lateSteeringManifestIsNotReportedAsCancelled() throws {
    let server = redundantServer(1, steering: steering)
    server.set("steer?_HLS_pathway=%22a%22", .failure(.abandoned(FetchTiming(seconds: 3))))
    let opened = try PlaylistLoader(server, folder: nil).open(.network(base + "m.m3u8"))
    guard case .multivariant(let playlist, _) = opened else {
      Issue.record("no multivariant playlist")
      return
    }
    #expect(playlist.notes.count == 1)
    #expect(playlist.notes.first?.hasSuffix("did not arrive within 3 s") == true)
  }
}
