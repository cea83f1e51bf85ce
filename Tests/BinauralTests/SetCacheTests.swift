// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Binaural

/// HRTF sets as read from their files, kept in the cache.
@Suite struct SetCacheTests {
  private let folder = TemporaryFolder()

  private func loader(reader: String? = nil) -> SofaLoader {
    SofaLoader(readerPath: reader, cache: DesignCache(folder: folder.file("cache")))
  }

  /// The second load does not start the reader.
  @Test func setIsReadOnce() throws {
    let path = try HRTFFixtures.shared.path("delays-per-ear")
    let first = try loader().load(path)
    #expect(try loader(reader: "/bin/false").load(path).impulseResponses == first.impulseResponses)
  }

  @Test func changedFileIsReadAgain() throws {
    let path = folder.file("set.sofa")
    _ = try ProgramRun.of("cp", [try HRTFFixtures.shared.path("delays-per-ear"), path])
    _ = try loader().load(path)
    _ = try ProgramRun.of("touch", ["-d", "@1000000", path])
    #expect(throws: HRTFError.self) { try loader(reader: "/bin/false").load(path) }
    #expect(try loader().load(path).taps > 0)
  }

  @Test func damagedEntryIsReplaced() throws {
    let path = try HRTFFixtures.shared.path("delays-per-ear")
    let first = try loader().load(path)
    let names = try ProgramRun.of("ls", [folder.file("cache")]).output.split(separator: "\n")
    let entry = folder.file("cache/\(try #require(names.first { $0.hasSuffix(".set") }))")
    let file = open(entry, O_RDWR)
    try #require(file >= 0)
    defer { close(file) }
    var byte: UInt8 = 0
    try #require(pread(file, &byte, 1, 1000) == 1)
    byte ^= 1
    try #require(pwrite(file, &byte, 1, 1000) == 1)
    #expect(throws: HRTFError.self) { try loader(reader: "/bin/false").load(path) }
    #expect(try loader().load(path).impulseResponses == first.impulseResponses)
    #expect(try loader(reader: "/bin/false").load(path).impulseResponses == first.impulseResponses)
  }

  @Test func refusedFileIsNotKept() throws {
    let path = try HRTFFixtures.shared.path("ir-nan")
    #expect(throws: HRTFError.self) { try loader().load(path) }
    #expect(try ProgramRun.of("ls", [folder.path]).output.isEmpty)
  }
}
