// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound that a user named cannot be opened.
public enum SoundOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is neither a path nor an http or https address.
  case noAddress(String)
  /// The address has no host.
  case noHost(String)
  /// The file cannot be read, for the reason that the operating system gives.
  case unreadable(String, reason: String)
  /// The folder that contains the files of the presentation cannot be read.
  case unreadableFolder(path: String)
  /// The playlists of the presentation cannot be fetched or used, for the given reason.
  case presentation(String)
  /// The user asked to keep the presentation, but named a file.
  case fileCannotBeKept(String)
  /// The fetched files cannot be kept, for the given reason.
  case keeping(String)

  public var description: String {
    switch self {
    case .noAddress(let text): "'\(text)' is neither a path nor an http or https address"
    case .noHost(let address): "the address '\(address)' has no host; check it"
    case .unreadable(let text, let reason): "cannot read '\(text)': \(reason)"
    case .unreadableFolder(let path):
      "cannot read the folder '\(path)'; check the path and its permissions"
    case .presentation(let reason), .keeping(let reason): reason
    case .fileCannotBeKept(let text): "only HLS presentations can be kept; '\(text)' is not one"
    }
  }
}
