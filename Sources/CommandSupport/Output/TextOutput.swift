// SPDX-License-Identifier: Apache-2.0

internal import Glibc
private import System

/// A text file that appears under its name only when it is complete. If the path names a pipe or a
/// device, the text is written to it directly.
package struct TextOutput {
  package let path: String

  package init(path: String) { self.path = path }

  /// Checks the permissions for writing, without creating the file.
  ///
  /// - Throws: a failure if the file cannot be written.
  package func check() throws(CommandFailure) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT != S_IFDIR else {
        throw CommandFailure("cannot write \(path): it is a directory; choose a file in it")
      }
      guard access(path, W_OK) == 0 else { throw failure(String(cString: strerror(errno))) }
      guard status.st_mode & S_IFMT == S_IFREG else { return }
    }
    // The text is written to a temporary file in the folder of the file itself.
    guard access(Self.folder(of: resolved), W_OK | X_OK) == 0 else {
      throw failure(String(cString: strerror(errno)))
    }
  }

  /// Writes the file.
  ///
  /// - Parameter mode: the permissions of a new file. An existing file keeps its permissions.
  /// - Throws: a failure if the file cannot be written.
  package func write(_ text: String, mode: UInt32 = 0o666) throws(CommandFailure) {
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      try check()
      try put(text, open(path, O_WRONLY | O_CLOEXEC))
      return
    }
    // If the path names a symbolic link to a file that exists, replace that file, not the link.
    let target = exists ? resolved : path
    let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
    let temporary = "\(target).\(mark).part"
    UnfinishedFiles.add(temporary)
    defer { UnfinishedFiles.forget(temporary) }
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if descriptor >= 0, exists { _ = fchmod(descriptor, status.st_mode & 0o7777) }
    do throws(CommandFailure) {
      try put(text, descriptor)
    } catch {
      unlink(temporary)
      throw error
    }
    guard rename(temporary, target) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(temporary)
      throw failure(reason)
    }
  }

  private func put(_ text: String, _ descriptor: Int32) throws(CommandFailure) {
    guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
    let isWritten = writeText(text, to: descriptor)
    let reason = String(cString: strerror(errno))
    // A network file system may report a full disk only when the file is closed.
    let isClosed = close(descriptor) == 0
    guard isWritten else { throw failure(reason) }
    guard isClosed else { throw failure(String(cString: strerror(errno))) }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private var resolved: String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private func failure(_ reason: String) -> CommandFailure {
    cannotWrite(path, reason: reason)
  }
}

/// Returns the failure of a command that cannot write a file.
///
/// - Parameter reason: the reason; nil for the text of the current `errno`.
package func cannotWrite(_ path: String, reason: String? = nil) -> CommandFailure {
  let reason = reason ?? String(cString: strerror(errno))
  return CommandFailure(
    "cannot write \(path): \(reason); choose another path, or free some space")
}
