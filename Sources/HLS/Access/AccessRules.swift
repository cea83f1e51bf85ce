// SPDX-License-Identifier: Apache-2.0

/// The reason why an address cannot be read or must not be read.
public struct AccessRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  public var address: String
  /// What is wrong with the address: the rule that it violates, such as "a remote playlist must not
  /// refer to local files", or why it cannot be used.
  public var rule: String

  public init(_ address: String, _ rule: String) {
    self.address = address
    self.rule = rule
  }

  public var description: String { "cannot read '\(address.prefix(200))': \(rule)" }
}

/// The rules for the addresses that the playlists of one presentation may refer to. Playlists are
/// treated as hostile.
public struct AccessRules: Sendable {
  /// The place that the presentation was opened from.
  public enum Origin: Sendable, Equatable {
    /// A folder, as an absolute path without symbolic links.
    case folder(String)
    /// The host that the user named. This host may have a private address.
    case server(host: String)
  }

  public let origin: Origin
  /// Text that explains how the user can allow files outside the folder; nil if that is impossible.
  /// The text is appended to the refusal of such a file.
  private let remedy: String?

  public init(_ origin: Origin, remedy: String? = nil) {
    (self.origin, self.remedy) = (origin, remedy)
  }

  /// The hosts to which a request may connect.
  public enum Reach: Sendable, Equatable {
    /// The host that the user named, with any IP address.
    case anyAddress
    /// Another host, if its IP address is public. Check it when the connection is opened, because
    /// the name may resolve to another address each time (DNS rebinding).
    case publicAddresses
  }

  /// Checks a network address by its scheme and host. Does not resolve names.
  ///
  /// - Parameters:
  ///   - address: the complete address, for the text of the refusal.
  ///   - scheme: the scheme of the address, in lower case.
  ///   - host: the host of the address; case is ignored.
  /// - Returns: the IP addresses to which the request may connect.
  /// - Throws: the refusal if the address must not be requested.
  public func reach(
    of address: String, scheme: String, host: String
  ) throws(AccessRefusal) -> Reach {
    guard scheme == "http" || scheme == "https" else {
      throw AccessRefusal(address, "only http and https are supported")
    }
    guard !host.isEmpty else { throw AccessRefusal(address, "it has no host") }
    if case .server(let named) = origin, Self.isSame(named, host) { return .anyAddress }
    if let numeric = NetworkAddress(host), !numeric.isPublic { throw Self.notPublic(address) }
    return .publicAddresses
  }

  /// Checks the IP addresses of a host before a proxy resolves its name again.
  ///
  /// - Parameter resolve: returns the IP addresses of a host; empty if there are none.
  /// - Throws: the refusal if an address is not public, or if there is none.
  public func checkAddresses(
    of address: String, host: String,
    resolve: (String) -> [NetworkAddress] = NetworkAddress.resolve
  ) throws(AccessRefusal) {
    let addresses = resolve(host)
    guard !addresses.isEmpty else {
      throw AccessRefusal(address, "no IP address was found for its host")
    }
    guard addresses.allSatisfy(\.isPublic) else { throw Self.notPublic(address) }
  }

  /// The refusal of an address whose IP address is not public.
  public static func notPublic(_ address: String) -> AccessRefusal {
    AccessRefusal(
      address,
      "playlists may refer to private, loopback or reserved addresses only on the host that you "
        + "named")
  }

  private static func isSame(_ first: String, _ second: String) -> Bool {
    func plain(_ host: String) -> String {
      var text = host.lowercased()
      if text.first == "[", text.last == "]" { text = String(text.dropFirst().dropLast()) }
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
    return plain(first) == plain(second)
  }

  /// Checks whether a local file may be read.
  ///
  /// - Parameters:
  ///   - path: the absolute path of the file, without symbolic links.
  ///   - address: the address to name in the text of the refusal.
  /// - Throws: the refusal if the file must not be read.
  public func checkFile(_ path: String, address: String) throws(AccessRefusal) {
    guard case .folder(let folder) = origin else {
      throw AccessRefusal(address, "a remote playlist must not refer to local files")
    }
    let root = folder.hasSuffix("/") ? folder : folder + "/"
    guard path.hasPrefix(root) else {
      let rule = "it is outside the presentation's folder"
      throw AccessRefusal(address, remedy.map { "\(rule); \($0)" } ?? rule)
    }
  }
}
