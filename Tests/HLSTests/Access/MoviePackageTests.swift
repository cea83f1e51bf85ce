// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct MoviePackageTests {
  private func boot(_ streams: [String]) -> [UInt8] {
    Array(
      ("<HLSMoviePackage><Streams>" + streams.map { "<Stream Path=\"\($0)\"/>" }.joined()
        + "</Streams></HLSMoviePackage>").utf8)
  }

  private func info(_ count: Int) -> [UInt8] {
    let segments = (0..<count).map { "<SEG Dur=\"2\" PATH=\"\($0).frag\"/>" }
    return Array(
      ("<StreamInfo><MediaSegments>" + segments.joined() + "</MediaSegments></StreamInfo>").utf8)
  }

  /// A list that names streams too often must not take gigabytes and hours.
  @Test func streamsAreReadOnce() throws {
    var reads = 0
    let list = info(20)
    let boot = boot((0..<10_000).map { "\($0 % 2)" })
    let package = try #require(
      MoviePackage { path in
        if path == "boot.xml" { return boot }
        guard path.hasSuffix("/StreamInfoBoot.xml") else { return nil }
        reads += 1
        return list
      })
    #expect(reads == 2)
    #expect(package.streams.map(\.folder) == ["0", "1"])
    #expect(package.streams.map(\.playlist.segments.count) == [20, 20])
  }

  @Test func streamsAndTheirListsAreLimited() throws {
    for (count, padding) in [(1000, 0), (20, PlaylistLimits.bytes / 4)] {
      var bytes = 0
      let list = info(1) + [UInt8](repeating: 32, count: padding)
      let boot = boot((0..<count).map { "\($0)" })
      let package = try #require(
        MoviePackage { path in
          if path == "boot.xml" { return boot }
          guard path.hasSuffix("/StreamInfoBoot.xml") else { return nil }
          bytes += list.count
          return list
        })
      #expect(package.streams.count == (padding == 0 ? PlaylistLimits.renditions : 4))
      #expect(bytes < 2 * PlaylistLimits.bytes)
    }
  }
}
