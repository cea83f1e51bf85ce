// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A temporary folder for one test, deleted at the end of the test.
final class Scratch {
  let path: String

  init() {
    var template = Array("/tmp/stillstage-media-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary folder can be made") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    for name in names { unlink(self / name) }
    rmdir(path)
  }

  static func / (folder: Scratch, name: String) -> String { folder.path + "/" + name }

  var names: [String] { SystemFile.names(in: path)?.sorted() ?? [] }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) -> String {
    let file = fopen(self / name, "wb")!
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return self / name
  }

  func bytes(of name: String) -> [UInt8] {
    guard let file = fopen(self / name, "rb") else { return [] }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = fread(buffer.baseAddress, 1, count, file)
    }
  }

  /// Runs Debian's `ffmpeg` program (package `ffmpeg`); `@name` is a file in this folder.
  func ffmpeg(_ arguments: [String], location: SourceLocation = #_sourceLocation) throws {
    let words =
      ["ffmpeg", "-nostdin", "-v", "error", "-y"]
      + arguments.map { $0.hasPrefix("@") ? self / String($0.dropFirst()) : $0 }
    let process = try #require(
      try? ProgramLaunch(words).start(),
      "install the Debian package ffmpeg, which the tests need", sourceLocation: location)
    try #require(
      process.wait() == .exited(0), "\(words.joined(separator: " "))", sourceLocation: location)
  }
}
