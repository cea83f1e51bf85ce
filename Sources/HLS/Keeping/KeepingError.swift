// SPDX-License-Identifier: Apache-2.0

/// The reason why a presentation cannot be kept in a folder.
public enum KeepingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A folder cannot be opened or created, writing failed, or a rendition already has the maximum
  /// number of segments.
  case cannotWrite(path: String, reason: String)
  /// Another `PresentationKeeper`, usually in another process, is using the folder.
  case isInUse(path: String)
  /// The folder is not empty and has no valid record.
  case isForeign(path: String)
  /// The folder contains another presentation, which comes from `source`.
  case holdsAnother(path: String, source: String)

  public var description: String {
    switch self {
    case .cannotWrite(let path, let reason):
      "cannot write \(path): \(reason); choose another folder, or free some space if the disk is "
        + "full"
    case .isInUse(let path):
      "'\(path)' is in use by another process; wait until that process ends, or choose "
        + "another folder"
    case .isForeign(let path):
      "'\(path)' is not empty and has no valid record of a kept presentation; choose another folder"
    case .holdsAnother(let path, let source):
      "'\(path)' contains another presentation, from '\(source.prefix(200))'; choose another folder"
    }
  }
}
