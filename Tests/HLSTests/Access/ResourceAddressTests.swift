// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct ResourceAddressTests {
  @Test(arguments: [
    ("http://h/a/b/p.m3u8?x=1", "seg.ts", "http://h/a/b/seg.ts"),
    ("http://h/a/b/p.m3u8", "../seg.ts?y#z", "http://h/a/seg.ts?y#z"),
    ("http://h/a/b/p.m3u8", "/seg.ts", "http://h/seg.ts"),
    ("https://h/a/p.m3u8", "//other/seg.ts", "https://other/seg.ts"),
    ("https://h/a/p.m3u8", "http://other:8080/seg.ts", "http://other:8080/seg.ts"),
    ("https://h/a/p.m3u8", "file:///etc/passwd", "file:///etc/passwd"),
  ])
  func urisResolveAgainstNetworkAddresses(base: String, uri: String, result: String) {
    #expect(ResourceAddress.network(base).resolved(uri) == .network(result))
  }

  @Test(arguments: [
    ("/m/a/p.m3u8", "seg.ts", ResourceAddress.file("/m/a/seg.ts")),
    ("/m/a/p.m3u8", "../b/seg 1.ts", .file("/m/a/../b/seg 1.ts")),
    ("/m/a/p.m3u8", "/x/seg.ts", .file("/x/seg.ts")),
    ("/m/a/p.m3u8", "file:///x/seg%201.ts", .file("/x/seg 1.ts")),
    ("/m/a/p.m3u8", "https://h/seg.ts", .network("https://h/seg.ts")),
    ("/m/a/p.m3u8", "a:b.ts", .file("/m/a/a:b.ts")),
  ])
  func urisResolveAgainstFilePaths(base: String, uri: String, result: ResourceAddress) {
    #expect(ResourceAddress.file(base).resolved(uri) == result)
  }

  @Test func argumentsAreParsedAsPathsOrURLs() {
    func address(_ text: String) -> ResourceAddress? {
      ResourceAddress(argument: text, in: "/here")
    }
    #expect(address("a.m3u8") == .file("/here/a.m3u8"))
    #expect(address("/a/b") == .file("/a/b"))
    #expect(address("file:///a%20b") == .file("/a b"))
    #expect(address("HTTP://Host/x") == .network("HTTP://Host/x"))
    #expect(address("ftp://host/x") == nil)
    #expect(address("http://") == nil)
    #expect(ResourceAddress.network("http://h/x?a=1&b=%20").query == ["a": "1", "b": " "])
    #expect(ResourceAddress.network("http://h/a/x.ts?a=/1").name == "x.ts")
  }
}
