// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder with what the user has set: `$XDG_CONFIG_HOME/stillstage`, or `~/.config/stillstage`.
public struct UserFolder: Sendable, Equatable {
  public let path: String

  /// A folder that is known.
  public init(path: String) {
    self.path = path
  }

  /// The folder that the environment tells of; nil where that tells of none.
  ///
  /// - Parameter variable: gives a variable of the environment.
  public init?(_ variable: (String) -> String?) {
    // The XDG base directory specification has relative paths ignored.
    if let base = variable("XDG_CONFIG_HOME"), base.hasPrefix("/") {
      path = "\(base)/stillstage"
    } else if let home = variable("HOME"), home.hasPrefix("/") {
      path = "\(home)/.config/stillstage"
    } else {
      return nil
    }
  }

  /// The folder of whoever runs this process.
  public static var ofThisProcess: UserFolder? {
    UserFolder { name in getenv(name).map { String(cString: $0) } }
  }

  /// The user's defaults for options.
  public var configPath: String { "\(path)/config.json" }

  /// The user's own profiles of headphones.
  public var headphonePath: String { "\(path)/headphones" }

  /// The bytes of a small file; nil where there is none.
  ///
  /// - Throws: `UserFileError` with the file and the reason.
  package static func read(_ path: String) throws(UserFileError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw UserFileError(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw UserFileError(path: path, reason: "it is not a file")
    }
    guard status.st_size <= 1 << 20 else {
      throw UserFileError(path: path, reason: "it is longer than 1 MB")
    }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= 1 << 20 {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw UserFileError(path: path, reason: String(cString: strerror(errno)))
      }
      if count == 0 { break }
      bytes += part[..<count]
    }
    return bytes
  }
}

/// A file of the user's that cannot be used.
public struct UserFileError: Error, Sendable, Equatable, CustomStringConvertible {
  public let path: String
  /// What is wrong and what to do.
  public let reason: String

  public init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  /// One line.
  public var description: String { "\(path): \(reason)" }
}
