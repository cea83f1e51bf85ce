// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct AccessRulesTests {
  @Test(arguments: [
    "8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "[2a00:1450::1]", "::ffff:8.8.8.8",
    "64:ff9b::808:808", "2002:808:808::1", "172.32.0.1", "100.128.0.1",
  ])
  func publicAddressesAreRecognised(text: String) throws {
    #expect(try #require(NetworkAddress(text)).isPublic)
  }

  @Test(arguments: [
    "127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1",
    "::1", "::", "[fe80::1%eth0]", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001:0:1::1",
  ])
  func privateAddressesAreRecognised(text: String) throws {
    #expect(try !#require(NetworkAddress(text)).isPublic)
  }

  @Test(arguments: ["localhost", "256.1.1.1", "1.2.3", "", "0x7f.1", "[::1", "host:80"])
  func hostNamesAndMalformedAddressesAreRejected(text: String) {
    #expect(NetworkAddress(text) == nil)
  }

  private func refusal(
    _ scheme: String, _ host: String, _ origin: AccessRules.Origin, to addresses: [String]
  ) -> String? {
    do throws(AccessRefusal) {
      let rules = AccessRules(origin)
      let address = "\(scheme)://\(host)/x"
      guard try rules.reach(of: address, scheme: scheme, host: host) == .publicAddresses else {
        return nil
      }
      try rules.checkAddresses(
        of: address, host: host, resolve: { _ in addresses.compactMap(NetworkAddress.init) })
      return nil
    } catch { return error.rule }
  }

  @Test func onlyTheNamedHostMayHaveAPrivateAddress() {
    let origin = AccessRules.Origin.server(host: "Media.local")
    let rule =
      "its host has a private, loopback or reserved IP address; a playlist or redirect may lead "
      + "to such a host only if you named that host"
    #expect(refusal("http", "media.local.", origin, to: ["192.168.1.2"]) == nil)
    #expect(refusal("http", "other.local", origin, to: ["192.168.1.3"]) == rule)
    #expect(refusal("https", "cdn.example", origin, to: ["8.8.8.8"]) == nil)
    #expect(refusal("https", "cdn.example", origin, to: ["8.8.8.8", "127.0.0.1"]) == rule)
    #expect(refusal("http", "localhost", .folder("/music"), to: ["127.0.0.1"]) == rule)
    #expect(refusal("http", "[::1]", .server(host: "::1"), to: []) == nil)
    #expect(refusal("http", "10.0.0.1", origin, to: ["8.8.8.8"]) == rule)
    #expect(refusal("http", "nowhere", origin, to: []) == "no IP address was found for its host")
    #expect(
      refusal("file", "", origin, to: []) == "only http and https are supported")
    #expect(refusal("http", "", origin, to: []) == "it has no host")
  }

  @Test func filesOutsideTheFolderAreRefused() {
    let rules = AccessRules(.folder("/music/show"))
    #expect(throws: Never.self) { try rules.checkFile("/music/show/a.ts", address: "a.ts") }
    for path in ["/music/shower/a.ts", "/music/a.ts", "/etc/passwd", "/music/show"] {
      #expect(throws: AccessRefusal(path, "it is outside the presentation's folder")) {
        try rules.checkFile(path, address: path)
      }
    }
    #expect(throws: AccessRefusal("a.ts", "a remote playlist must not refer to local files")) {
      try AccessRules(.server(host: "h")).checkFile("/music/a.ts", address: "a.ts")
    }
  }
}
