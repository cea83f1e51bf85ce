// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder for the sockets and the state of running instances: `$XDG_RUNTIME_DIR/stillstage`, by
/// default `/run/user/UID/stillstage`.
package struct RuntimeFolder: Sendable {
  package let path: String

  /// Returns the folder of this process without creating it.
  ///
  /// - Throws: a failure if `XDG_RUNTIME_DIR` is not an absolute path and this user has no folder
  ///   `/run/user/UID`.
  package static func ofThisProcess() throws(CommandFailure) -> RuntimeFolder {
    if let base = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), base.hasPrefix("/") {
      return RuntimeFolder(path: base + "/stillstage")
    }
    let base = "/run/user/\(getuid())"
    var status = stat()
    guard lstat(base, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == getuid()
    else {
      throw CommandFailure(
        "there is no runtime folder: XDG_RUNTIME_DIR is not set to an absolute path, and you have "
          + "no folder \(base); set XDG_RUNTIME_DIR to a folder that only you can access")
    }
    return RuntimeFolder(path: base + "/stillstage")
  }

  package init(path: String) { self.path = path }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Creates the folder if it is missing. Only this user can access it.
  ///
  /// - Throws: a failure if the folder cannot be created, if it belongs to another user, if its
  ///   permissions cannot be changed, or if the path does not name a folder.
  package func create() throws(CommandFailure) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw CommandFailure(
        "cannot create the folder \(path): \(String(cString: strerror(errno)))"
          + "; set XDG_RUNTIME_DIR to a folder that you can write to")
    }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == getuid(), status.st_mode & 0o777 == 0o700 || chmod(path, 0o700) == 0
    else {
      throw CommandFailure(
        "\(path) is not a folder that belongs to you; remove it, or set XDG_RUNTIME_DIR to another "
          + "folder")
    }
  }
}
