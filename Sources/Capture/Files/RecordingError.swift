// SPDX-License-Identifier: Apache-2.0

/// The reason why a recording cannot be written. `description` is one line that includes advice.
public enum RecordingError: Error, Sendable, Equatable {
  /// The file exists, and overwriting was not requested.
  case exists(path: String)
  case isDirectory(path: String)
  case notRegularFile(path: String)
  case cannotCreate(path: String, reason: String)
  /// The disk is full or the user's quota is used up. `hasSound`: whether a file with sound
  /// remains.
  case diskFull(path: String, hasSound: Bool)
  /// The file system or a limit of the process allows no larger file. `hasSound`: whether a file
  /// with sound remains.
  case fileTooLarge(path: String, hasSound: Bool)
  case writeFailed(path: String, reason: String)
  /// The file name's extension selects no container.
  case unknownContainer(path: String)
  /// The container cannot store the format; `reason` says why and what to choose instead.
  case unsupported(path: String, reason: String)
  /// An encoder or a multiplexer of FFmpeg failed.
  case encodingFailed(path: String, reason: String)
}

extension RecordingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .exists(let path):
      "\(printable(path)): already exists; choose another name, or allow overwriting"
    case .isDirectory(let path):
      "\(printable(path)): is a directory; choose the name of a file in it"
    case .notRegularFile(let path):
      "\(printable(path)): is not a regular file and cannot hold a recording; choose another name"
    case .cannotCreate(let path, let reason):
      "\(printable(path)): cannot be created (\(printable(reason))); choose another folder or name"
    case .diskFull(let path, let hasSound):
      "\(printable(path)): no space is left on the disk or in the quota, so "
        + Self.rest(hasSound) + "; free some space"
    case .fileTooLarge(let path, let hasSound):
      "\(printable(path)): the size limit of the file system or the process is reached, so "
        + Self.rest(hasSound) + "; use another disk, or raise the limit"
    case .writeFailed(let path, let reason):
      "\(printable(path)): cannot be written (\(printable(reason))); check the disk"
    case .unknownContainer(let path):
      "\(printable(path)): the name selects no supported file format; end it with "
        + RecordingContainer.suffixes.dropLast().joined(separator: ", ") + " or "
        + (RecordingContainer.suffixes.last ?? "")
    case .unsupported(let path, let reason): "\(printable(path)): \(reason)"
    case .encodingFailed(let path, let reason):
      "\(printable(path)): the sound cannot be encoded (\(printable(reason))); "
        + "choose another file format"
    }
  }

  private static func rest(_ hasSound: Bool) -> String {
    hasSound
      ? "nothing more can be recorded; the sound that is already in the file can be played"
      : "no sound has been saved"
  }
}

/// Replaces control characters, line separators and paragraph separators with U+FFFD.
private func printable(_ text: String) -> String {
  let scalars = text.unicodeScalars.map { scalar in
    scalar.properties.generalCategory == .control || [0x2028, 0x2029].contains(scalar.value)
      ? "\u{FFFD}" : scalar
  }
  return String(String.UnicodeScalarView(scalars))
}
