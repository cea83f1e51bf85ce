// SPDX-License-Identifier: Apache-2.0

/// The reason why an address cannot or must not be read.
public struct AccessRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  public var address: String
  /// The violated rule, or the reason why the address cannot be used.
  public var rule: String

  public init(_ address: String, _ rule: String) {
    self.address = address
    self.rule = rule
  }

  public var description: String { "cannot read '\(address.prefix(200))': \(rule)" }
}

/// The rules for addresses in the playlists of a presentation and in redirects. Playlists are
/// treated as hostile.
public struct AccessRules: Sendable {
  /// The place from which the presentation was opened.
  public enum Origin: Sendable, Equatable {
    /// A folder, as an absolute path without symbolic links.
    case folder(String)
    /// The host that the user named. It may have a private address.
    case server(host: String)
  }

  public let origin: Origin
  /// Advice to add to the refusal of a file outside the folder; nil for none.
  private let remedy: String?

  public init(_ origin: Origin, remedy: String? = nil) {
    (self.origin, self.remedy) = (origin, remedy)
  }

  /// The IP addresses to which a request may connect.
  public enum Reach: Sendable, Equatable {
    /// Any IP address is permitted. `reach` returns this if the user named the host.
    case anyAddress
    /// Only public IP addresses are permitted, because the user did not name the host. Check the IP
    /// address when the connection is opened: the name may resolve to another address each time
    /// (DNS rebinding).
    case publicAddresses
  }

  /// Checks a network address by its scheme and host. Does not resolve names.
  ///
  /// - Parameters:
  ///   - address: the complete address, for the text of the refusal.
  ///   - scheme: in lower case.
  ///   - host: compared with the host that the user named, without regard to case, brackets or a
  ///     final dot.
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

  /// Checks that all IP addresses of a host are public. Call this before a request through a proxy,
  /// because the proxy resolves the host's name itself.
  ///
  /// - Parameter resolve: returns the IP addresses of a host; empty if there are none.
  /// - Throws: the refusal if an IP address is not public, or if the host has none.
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

  /// Returns the refusal of an address whose host has an IP address that is not public.
  public static func notPublic(_ address: String) -> AccessRefusal {
    AccessRefusal(
      address,
      "its host has a private, loopback or reserved IP address; a playlist or redirect may lead "
        + "to such a host only if you named that host")
  }

  private static func isSame(_ first: String, _ second: String) -> Bool {
    func plain(_ host: String) -> String {
      var text = host.lowercased()
      if text.first == "[", text.last == "]" { text = String(text.dropFirst().dropLast()) }
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
    return plain(first) == plain(second)
  }

  /// Checks that a local file may be read.
  ///
  /// - Parameters:
  ///   - path: an absolute path without symbolic links.
  ///   - address: the address to name in the refusal.
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
