// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A temporary file without a name, for a standard stream of a child process.
final class UnnamedFile {
  let descriptor: Int32

  init?(_ bytes: [UInt8] = []) {
    var template = Array("/tmp/stillstage-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard Self.write(bytes, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 else {
      return nil
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  var bytes: [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    lseek(descriptor, 0, SEEK_SET)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return result }
      result += buffer[..<count]
    }
  }

  /// Copies the contents to the file at `path`. An existing file is overwritten.
  func save(to path: String) throws(ChartError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw Self.failure(path) }
    let written = Self.write(bytes, to: file)
    let failure = written ? nil : Self.failure(path)
    guard close(file) == 0 || !written else { throw Self.failure(path) }
    if let failure { throw failure }
  }

  private static func failure(_ path: String) -> ChartError {
    .cannotWrite(path: path, reason: String(cString: strerror(errno)))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest.removeFirst(count)
    }
    return true
  }
}
