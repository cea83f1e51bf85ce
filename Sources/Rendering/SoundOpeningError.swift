// SPDX-License-Identifier: Apache-2.0

/// Why what a person named cannot be opened.
public enum SoundOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It is neither a path nor an address of http or https.
  case noAddress(String)
  case noHost(String)
  /// With the system's reason.
  case unreadable(String, reason: String)
  /// The folder that it lies in cannot be read.
  case unreadableFolder(path: String)
  /// Its playlists cannot be used, with the reason.
  case presentation(String)
  /// It was to be kept, and is a file.
  case fileCannotBeKept(String)
  /// What is fetched cannot be kept, with the reason.
  case keeping(String)

  public var description: String {
    switch self {
    case .noAddress(let text): "'\(text)' is neither a path nor an address of http or https"
    case .noHost(let address): "'\(address)' names no host"
    case .unreadable(let text, let reason): "cannot read '\(text)': \(reason)"
    case .unreadableFolder(let path): "the folder of '\(path)' cannot be read"
    case .presentation(let reason), .keeping(let reason): reason
    case .fileCannotBeKept(let text): "only presentations are kept; '\(text)' is a file"
    }
  }
}
