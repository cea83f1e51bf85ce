// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A new, empty folder that goes with everything in it when its owner goes.
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

  /// The path of something in the folder.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file and gives its path.
  @discardableResult
  public func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, mode)
    defer { close(descriptor) }
    guard descriptor >= 0, Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
      throw Unwritable(path: file(name))
    }
    return file(name)
  }

  public struct Unwritable: Error {
    let path: String
  }
}
