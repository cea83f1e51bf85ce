// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// Where a playlist, a segment or a key is.
public enum ResourceAddress: Sendable, Hashable, CustomStringConvertible {
  /// An absolute path.
  case file(String)
  /// An absolute address, with its scheme.
  case network(String)

  public var description: String {
    switch self {
    case .file(let text), .network(let text): text
    }
  }

  /// The last part of the path, without a query.
  public var name: String {
    let path = description.withoutQuery
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// An address as the user gives it: a path, `file:`, `http:` or `https:`; nil for another scheme.
  ///
  /// - Parameter folder: against which paths are relative, absolute.
  public init?(argument text: String, in folder: String) {
    let lower = text.lowercased()
    if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
      guard URL(string: text)?.host() != nil else { return nil }
      self = .network(text)
    } else if lower.hasPrefix("file:") {
      guard let path = URL(string: text)?.path(percentEncoded: false), path.hasPrefix("/") else {
        return nil
      }
      self = .file(path)
    } else if text.contains("://") {
      return nil
    } else {
      self = .file(text.hasPrefix("/") ? text : folder + "/" + text)
    }
  }

  /// What a playlist at this address means by a URI (RFC 3986, section 5); nil where it is none.
  ///
  /// From a file `http:` leads to the network, everything else to a file. From the network nothing
  /// leads to a file: `file:` stays a network address, which the rules refuse.
  public func resolved(_ uri: String) -> ResourceAddress? {
    switch self {
    case .network(let base):
      guard let base = URL(string: base),
        let url = URL(string: uri, relativeTo: base)?.absoluteURL
      else { return nil }
      return .network(url.absoluteString)
    case .file(let path):
      let scheme = uri.prefix { $0 != ":" && $0 != "/" }.lowercased()
      if uri.dropFirst(scheme.count).first == ":", scheme == "http" || scheme == "https" {
        return .network(uri)
      }
      if scheme == "file", uri.hasPrefix("file:") {
        return ResourceAddress(argument: uri, in: "/")
      }
      if uri.hasPrefix("/") { return .file(uri) }
      let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
      return .file("\(folder)/\(uri)")
    }
  }

  /// Scheme and host of a network address, in small letters.
  var schemeAndHost: (scheme: String, host: String)? {
    guard case .network(let text) = self, let url = URL(string: text) else { return nil }
    return ((url.scheme ?? "").lowercased(), (url.host() ?? "").lowercased())
  }

  /// The parameters behind the question mark.
  var query: [String: String] {
    guard case .network(let text) = self, let query = URL(string: text)?.query() else { return [:] }
    var values: [String: String] = [:]
    for part in query.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = pair.count == 2 ? String(pair[1]) : ""
      values[String(pair[0])] = value.percentDecoded ?? value
    }
    return values
  }
}
