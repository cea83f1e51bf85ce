// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound cannot be opened or kept.
public enum SoundOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is neither a path nor a valid http or https address.
  case noAddress(String)
  /// The address has a scheme that is not supported, such as `ftp`.
  case unsupportedAddress(String, scheme: String)
  /// The address has no host.
  case noHost(String)
  /// The file or folder cannot be read, for the given reason.
  case unreadable(String, reason: String)
  /// The folder at this path cannot be read.
  case unreadableFolder(path: String)
  /// The presentation cannot be opened, for the given reason.
  case presentation(String)
  /// The sound cannot be kept, because the text does not name a presentation.
  case fileCannotBeKept(String)
  /// The fetched files cannot be kept, for the given reason.
  case keeping(String)

  public var description: String {
    switch self {
    case .noAddress(let text):
      "'\(text)' is neither a path nor a valid http or https address; check it"
    case .unsupportedAddress(let address, let scheme):
      "'\(address)': \(scheme) addresses are not supported; download the file first, or give an "
        + "http or https address"
    case .noHost(let address): "the address '\(address)' has no host; check it"
    case .unreadable(let text, let reason):
      "cannot read '\(text)': \(reason); check the path and its permissions"
    case .unreadableFolder(let path):
      "cannot read the folder '\(path)'; check the path and its permissions"
    case .presentation(let reason), .keeping(let reason): reason
    case .fileCannotBeKept(let text):
      "only HLS presentations can be kept, and '\(text)' is not one; play it without keeping it"
    }
  }
}
