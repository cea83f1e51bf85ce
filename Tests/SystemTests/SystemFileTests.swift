// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

@Suite struct SystemFileTests {
  private let folder = TemporaryFolder()

  @Test func onlyFoldersCanBeListed() throws {
    let file = try folder.write("text", to: "file")
    #expect(SystemFile.names(in: folder.file("none")) == nil)
    #expect(SystemFile.names(in: file) == nil)
    #expect(SystemFile.names(inDescriptor: -1) == nil)
  }

  @Test func folderOf10000EntriesIsListedCompletely() throws {
    let names = Set((0..<10_000).map { "entry-\($0)" } + [".hidden", "Kopfhörer 頭"])
    #expect(SystemFile.names(in: folder.path) == [])
    for name in names { close(open(folder.file(name), O_CREAT | O_WRONLY, 0o600)) }
    let found = try #require(SystemFile.names(in: folder.path))
    #expect(found.count == names.count)
    #expect(Set(found) == names)
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    for _ in 0..<2 {
      #expect(SystemFile.names(inDescriptor: descriptor).map(Set.init) == names)
    }
  }

  @Test func contentsEndAtTheLimit() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let file = try folder.write(bytes, to: "file")
    #expect(try SystemFile.contents(file, limit: 1 << 20) == bytes)
    #expect(try SystemFile.contents(file, limit: 70_000) == Array(bytes.prefix(70_000)))
    #expect(try SystemFile.contents(file) == Array(bytes.prefix(4096)))
    #expect(try SystemFile.contents(folder.write("", to: "empty")) == [])
    // The kernel does not give the size of this file in advance.
    #expect(try !SystemFile.contents("/proc/self/status").isEmpty)
  }

  @Test func readErrorsAreReported() {
    #expect(throws: SystemError(number: ENOENT)) {
      try SystemFile.contents(folder.file("none"))
    }
    #expect(throws: SystemError(number: EISDIR)) { try SystemFile.contents(folder.path) }
    #expect(SystemError(number: ENOENT).description == "No such file or directory")
  }

  @Test func linksAreResolved() throws {
    let file = try folder.write("text", to: "file")
    #expect(symlink("file", folder.file("link")) == 0)
    #expect(SystemFile.resolved(folder.file("link")) == SystemFile.resolved(file))
    #expect(SystemFile.resolved(folder.file("none")) == nil)
  }
}
