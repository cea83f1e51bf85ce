// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder with the user's settings: `$XDG_CONFIG_HOME/stillstage` or `~/.config/stillstage`.
public struct UserFolder: Sendable, Equatable {
  public let path: String

  /// Refers to the folder at `path`, which need not exist.
  public init(path: String) {
    self.path = path
  }

  /// Determines the folder from environment variables; nil if neither `XDG_CONFIG_HOME` nor `HOME`
  /// is an absolute path.
  ///
  /// - Parameter variable: returns the value of an environment variable; nil if it is not set.
  public init?(_ variable: (String) -> String?) {
    // The XDG base directory specification requires programs to ignore relative paths.
    if let base = variable("XDG_CONFIG_HOME"), base.hasPrefix("/") {
      path = "\(base)/stillstage"
    } else if let home = variable("HOME"), home.hasPrefix("/") {
      path = "\(home)/.config/stillstage"
    } else {
      return nil
    }
  }

  /// The folder that the environment variables of this process determine; nil if they determine
  /// none.
  public static var ofThisProcess: UserFolder? {
    UserFolder { name in getenv(name).map { String(cString: $0) } }
  }

  /// The file with the user's default options and other settings.
  public var configPath: String { "\(path)/config.json" }

  /// The folder with the user's headphone profiles.
  public var headphonePath: String { "\(path)/headphones" }

  /// The folder with the user's tracker profiles.
  public var trackerProfilePath: String { "\(path)/tracker-profiles" }

  /// Returns the contents of a file of at most 1 MiB; nil if the file does not exist.
  ///
  /// - Throws: `UserFileError` if the file is larger, is not a regular file or cannot be read.
  package static func read(_ path: String) throws(UserFileError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw UserFileError(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw UserFileError(path: path, reason: "it is not a regular file")
    }
    guard status.st_size <= 1 << 20 else {
      throw UserFileError(path: path, reason: "it is larger than 1 MiB")
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

/// Why a user's file cannot be used.
public struct UserFileError: Error, Sendable, Equatable, CustomStringConvertible {
  public let path: String
  /// What is wrong and, for some errors, how to fix it.
  public let reason: String

  public init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  public var description: String { "\(path): \(reason)" }
}
