// SPDX-License-Identifier: Apache-2.0

import Glibc
import SoundServer
import System

/// The folder for the FIFOs. It is private to its owner.
struct SinkFolder {
  let path: String

  /// Makes the folder `stillstage` in `runtimeFolder`, or makes the existing folder private.
  ///
  /// - Parameter runtimeFolder: the user's runtime folder; nil for `XDG_RUNTIME_DIR`.
  /// - Throws: `systemFailure` if the runtime folder is not set to an absolute path, or if the
  ///   folder cannot be created, opened or made private to this user.
  init(in runtimeFolder: String?) throws(SoundServerError) {
    guard let parent = runtimeFolder ?? getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }),
      parent.hasPrefix("/")
    else {
      throw .systemFailure(
        reason: "XDG_RUNTIME_DIR is not set to an absolute path; set it to a folder that only you "
          + "can access")
    }
    path = parent + "/stillstage"
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw .systemFailure(
        reason: "cannot create \(path): \(SystemError.latest); check XDG_RUNTIME_DIR")
    }
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      throw .systemFailure(
        reason: "cannot open \(path): \(SystemError.latest); check XDG_RUNTIME_DIR")
    }
    defer { close(folder) }
    var status = stat()
    guard fstat(folder, &status) == 0, status.st_uid == geteuid() else {
      throw .systemFailure(
        reason: "\(path) belongs to another user; set XDG_RUNTIME_DIR to another folder")
    }
    guard status.st_mode & 0o077 == 0 || fchmod(folder, 0o700) == 0 else {
      throw .systemFailure(
        reason: "cannot restrict access to \(path): \(SystemError.latest); check XDG_RUNTIME_DIR")
    }
  }

  /// Returns the path of the FIFO for this process's sink `name`.
  func fifo(of name: String) -> String {
    let name = String(name.map { $0 == "/" ? "_" : $0 })
    return "\(path)/\(name).\(SinkOwner.current.text).fifo"
  }

  /// Deletes the FIFOs of processes that have ended.
  func deleteOrphans() {
    for name in SystemFile.names(in: path) ?? [] where name.hasSuffix(".fifo") {
      let parts = name.split(separator: ".")
      guard parts.count >= 3 else { continue }
      if !SinkOwner(text: String(parts[parts.count - 2])).isAlive { unlink("\(path)/\(name)") }
    }
  }
}
