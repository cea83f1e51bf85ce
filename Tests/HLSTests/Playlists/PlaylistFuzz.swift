// SPDX-License-Identifier: Apache-2.0

@testable import HLS

/// Feeds arbitrary bytes to all parsers of what a server sends, and traps on an impossible result.
/// Used by a test and, with libFuzzer, by `make fuzz`.
enum PlaylistFuzz {
  static func run(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0, 1: playlist(rest)
    case 2: segment(rest)
    default: addresses(rest)
    }
  }

  private static func playlist(_ bytes: [UInt8]) {
    guard let playlist = try? Playlist(bytes, query: ["q": "1"]) else { return }
    switch playlist {
    case .multivariant(let found):
      precondition(found.variants.count <= PlaylistLimits.variants)
      for language in [nil, "en"] {
        let ladder = Ladder(from: found, language: language)
        precondition(ladder.allSatisfy { $0.bitRate > 0 && $0.bitRate.isFinite })
      }
    case .media(let found):
      precondition(found.segments.count <= PlaylistLimits.segments)
      precondition(found.duration.isFinite && found.duration >= 0)
      precondition(
        found.segments.allSatisfy { $0.range.map { $0.offset >= 0 && $0.length > 0 } ?? true })
      let start = PlaylistFollower(found, at: 0).start
      precondition(start.skipped >= 0 && start.sequence >= found.mediaSequence)
      var timeline = RenditionTimeline(found, address: .network("http://h/p"), origin: 0, at: 0)
      timeline.take(found, at: 4)
      _ = timeline.segment(at: 10)
    }
  }

  private static func segment(_ bytes: [UInt8]) {
    let length = ID3Tag.length(bytes)
    precondition((0...bytes.count).contains(length))
    _ = ID3Tag.timestamp(bytes)
    if let format = SegmentFormat(bytes) { _ = format.problem(bytes) }
    let key = [UInt8](repeating: 7, count: 16)
    if let clear = try? SegmentDecryption.decrypted(bytes, key: key, vector: key) {
      precondition(clear.count < bytes.count)
    }
  }

  private static func addresses(_ bytes: [UInt8]) {
    let uri = String(decoding: bytes, as: UTF8.self)
    let remote = AccessRules(.server(host: "127.0.0.1"))
    if let address = ResourceAddress.network("http://127.0.0.1/a/b.m3u8").resolved(uri) {
      if case .file = address { preconditionFailure("a remote address resolves to a file") }
    }
    let local = AccessRules(.folder("/kept"))
    if case .file(let path)? = ResourceAddress.file("/kept/p.m3u8").resolved(uri) {
      // Only the path is checked here. Existence and links are checked when the file is opened.
      let isInside = (try? local.checkFile(path, address: uri)) != nil
      precondition(isInside == path.hasPrefix("/kept/"))
    }
    precondition((try? remote.checkFile("/etc/passwd", address: uri)) == nil)
    _ = NetworkAddress(uri)
    _ = uri.percentDecoded
  }
}
