// SPDX-License-Identifier: Apache-2.0

/// Why an address that a playlist names is not asked for.
public struct AccessRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  public var address: String
  /// The rule, such as "a remote playlist reads no local files".
  public var rule: String

  public init(_ address: String, _ rule: String) {
    self.address = address
    self.rule = rule
  }

  public var description: String { "'\(address.prefix(200))' is not read: \(rule)" }
}

/// What the playlists of one presentation may lead to. Playlists are hostile until proven
/// otherwise.
public struct AccessRules: Sendable {
  /// Where the presentation was opened.
  public enum Origin: Sendable, Equatable {
    /// A folder, as an absolute path without symbolic links.
    case folder(String)
    /// A server, by the host named by the user, which may be a private one.
    case server(host: String)
  }

  public let origin: Origin
  /// How the user lets files outside of the folder be read; it ends the refusal of such a file.
  private let remedy: String?

  public init(_ origin: Origin, remedy: String? = nil) {
    (self.origin, self.remedy) = (origin, remedy)
  }

  /// The same by scheme and host.
  ///
  /// - Parameters:
  ///   - address: the whole of it, for the refusal's text.
  ///   - scheme: in small letters.
  ///   - host: as it stands there.
  ///   - resolve: the host's addresses.
  func checkNetwork(
    _ address: String, scheme: String, host: String,
    resolve: (String) -> [NetworkAddress] = NetworkAddress.resolve
  ) throws(AccessRefusal) {
    guard scheme == "http" || scheme == "https" else {
      throw AccessRefusal(address, "only http and https are spoken, not '\(scheme.prefix(20))'")
    }
    guard !host.isEmpty else { throw AccessRefusal(address, "it names no host") }
    if case .server(let named) = origin, Self.isSame(named, host) { return }
    let addresses = resolve(host)
    guard !addresses.isEmpty else { throw AccessRefusal(address, "its host has no address") }
    guard addresses.allSatisfy(\.isPublic) else {
      throw AccessRefusal(
        address, "playlists lead to private or loopback addresses only on the host you named")
    }
  }

  /// Whether an address of the network may be asked for.
  public func check(_ address: ResourceAddress) throws(AccessRefusal) {
    let place = address.schemeAndHost ?? ("", "")
    try checkNetwork(address.description, scheme: place.scheme, host: place.host)
  }

  private static func isSame(_ first: String, _ second: String) -> Bool {
    func plain(_ host: String) -> String {
      let text = host.lowercased()
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
    return plain(first) == plain(second)
  }

  /// Whether a local file may be read.
  ///
  /// - Parameters:
  ///   - path: absolute, without symbolic links: what would be opened.
  ///   - address: as it stands in the playlist.
  public func checkFile(_ path: String, address: String) throws(AccessRefusal) {
    guard case .folder(let folder) = origin else {
      throw AccessRefusal(address, "a remote playlist reads no local files")
    }
    let root = folder.hasSuffix("/") ? folder : folder + "/"
    guard path.hasPrefix(root) else {
      let rule = "it lies outside the presentation's folder"
      throw AccessRefusal(address, remedy.map { "\(rule); \($0)" } ?? rule)
    }
  }
}
