// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A new, empty folder that is deleted with its contents when its owner is released.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/stillstage-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "no temporary folder: errno \(errno)")
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    _ = try? ProgramRun.of("rm", ["-rf", path])
  }

  /// Returns the path of a file in the folder.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file and returns its path.
  @discardableResult
  public func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    try write(Array(text.utf8), to: name, mode: mode)
  }

  /// Writes a file and returns its path.
  @discardableResult
  public func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o644) throws -> String {
    try writeFile(bytes, to: file(name), mode: mode)
    return file(name)
  }

  /// The names of all files in the folder, including hidden ones.
  public var names: Set<String> {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: Set<String> = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.insert(name) }
    }
    return names
  }
}
