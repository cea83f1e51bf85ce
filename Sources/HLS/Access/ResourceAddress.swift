// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// The address of a resource of a presentation, such as a playlist, a segment or a key.
public enum ResourceAddress: Sendable, Hashable, CustomStringConvertible {
  /// An absolute path.
  case file(String)
  /// An absolute address with its scheme.
  case network(String)

  public var description: String {
    switch self {
    case .file(let text), .network(let text): text
    }
  }

  /// The last component of the path, without query and fragment; the host if a URL has no path.
  public var name: String {
    let path = description.withoutQuery
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Parses a path or a `file:`, `http:` or `https:` URL. Returns nil for an invalid URL and for
  /// any other text that contains `://`.
  ///
  /// - Parameter folder: the absolute path against which a relative path is resolved.
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

  /// Resolves a URI in the playlist at this address. Returns nil if the URI is invalid.
  ///
  /// In a local playlist, `http:` and `https:` URIs refer to the network and all others to files.
  /// In a playlist from the network, URIs are resolved as in RFC 3986, section 5. There, a `file:`
  /// URI becomes a `network` address, which the access rules refuse.
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

  /// The values of the query parameters, by name; empty for a file. Values are percent-decoded if
  /// they can be.
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
