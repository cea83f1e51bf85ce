// SPDX-License-Identifier: Apache-2.0

/// Why a presentation cannot be kept in a folder.
public enum KeepingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// With the system's reason, such as a full disk.
  case cannotWrite(path: String, reason: String)
  /// Another process writes into it.
  case isInUse(path: String)
  /// It holds other things, which might be overwritten.
  case isForeign(path: String)
  /// It holds what was kept of another presentation.
  case holdsAnother(path: String, source: String)

  public var description: String {
    switch self {
    case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
    case .isInUse(let path): "'\(path)' is in use: another run keeps a presentation in it"
    case .isForeign(let path):
      "'\(path)' is not empty and holds nothing that Stillstage kept; choose another folder"
    case .holdsAnother(let path, let source):
      "'\(path)' holds another presentation, of '\(source.prefix(200))'; choose another folder"
    }
  }
}
