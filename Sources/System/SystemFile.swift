// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// An error of an operating-system call.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The value of `errno`.
  public let number: Int32

  public init(number: Int32) { self.number = number }

  /// The error in `errno`.
  public static var latest: SystemError { SystemError(number: errno) }

  /// The operating system's text for the error.
  public var description: String { String(cString: strerror(number)) }
}

/// Reads files, lists folders and resolves paths.
public enum SystemFile {
  /// Returns the first `limit` bytes of a file, or all bytes if the file is shorter.
  ///
  /// - Throws: the system's error if the file cannot be opened or read.
  public static func contents(
    _ path: String, limit: Int = 4096
  ) throws(SystemError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .latest }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit, 1 << 16))
    while bytes.count < limit {
      let count = read(descriptor, &part, min(part.count, limit - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .latest }
      if count == 0 { break }
      bytes += part[..<count]
    }
    return bytes
  }

  /// Returns the names in a folder, unsorted, without `.` and `..`; nil if the folder cannot be
  /// opened.
  public static func names(in folder: String) -> [String]? {
    opendir(folder).map(list)
  }

  /// Returns the names in an open folder, unsorted, without `.` and `..`; nil if the folder cannot
  /// be opened again. `folder` stays open.
  public static func names(inDescriptor folder: Int32) -> [String]? {
    let again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return again < 0 ? nil : fdopendir(again).map(list)
  }

  private static func list(_ stream: OpaquePointer) -> [String] {
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Returns the absolute path without symbolic links; nil if it cannot be determined.
  public static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
