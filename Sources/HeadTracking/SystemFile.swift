// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files and folders in which the kernel tells of devices.
enum SystemFile {
  /// All of a file, to a limit in bytes.
  static func contents(_ file: String, limit: Int = 4096) throws(HeadTrackingError) -> [UInt8] {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .cannotOpen(path: file, reason: errorText(errno))
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress! + length, $0.count - length)
      }
      guard count > 0 else { break }
      length += count
    }
    return Array(bytes.prefix(length))
  }

  /// The values of a file of lines such as `DRIVER=hid-generic`; none where it cannot be read.
  static func values(_ file: String) -> [String: String] {
    guard let bytes = try? contents(file) else { return [:] }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let pairs = lines.map {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
  }

  /// The names in a folder, in no order; none where there is no such folder.
  static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names
  }

  /// Where a path leads to, or itself where it leads nowhere.
  static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// The system's words for an error number.
func errorText(_ error: Int32) -> String {
  error == 0 ? "no answer" : String(cString: strerror(error))
}
