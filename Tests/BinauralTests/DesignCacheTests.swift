// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Binaural

/// Checks that the cache returns stored designs and never a wrong one, whatever happens to its
/// files.
@Suite struct DesignCacheTests {
  private static let set = RigidSphereHead().hrtfSet(sampleRate: 48000)
  private static let arrays: [[Float]] = [[1, 2, 3], [], [0.5, -4]]

  private func key(_ settings: String = "test") -> DesignKey {
    DesignKey(set: Self.set, sampleRate: 48000, settings: settings)
  }

  private func bytes(_ path: String) -> [UInt8] { CacheFile.read(path, atMost: 1 << 24) ?? [] }

  private func files(_ folder: String) -> [String] { CacheFile.list(folder).map(\.name).sorted() }

  @Test func xxHash64MatchesKnownVectors() {
    func hash(_ text: String) -> UInt64 { Array(text.utf8).withUnsafeBytes { XXHash64.hash($0) } }
    #expect(hash("") == 0xEF46_DB37_51D8_E999)
    #expect(hash("a") == 0xD24E_C4F1_A98C_6E5B)
    #expect(hash("abc") == 0x44BC_2CF5_AD77_0999)
    #expect(
      hash("Nobody inspects the spammish repetition") == 0xFBCE_A83C_8A37_8BF1)
  }

  @Test func entryLoadsOnlyUnderItsOwnKey() {
    let folder = TemporaryFolder()
    let cache = DesignCache(folder: folder.file("a/b"))
    #expect(cache.load(key()) == nil)
    cache.store(Self.arrays, key())
    #expect(cache.load(key()) == Self.arrays)
    #expect(cache.load(key("other")) == nil)
    #expect(files(folder.file("a/b")).count == 1)
  }

  @Test func suppliedEntriesAreOnlyRead() {
    let folder = TemporaryFolder()
    let supplied = folder.file("supplied")
    DesignCache(folder: supplied).store(Self.arrays, key())
    let stored = bytes(DesignCache(folder: supplied).path(key()))
    let cache = DesignCache(folder: folder.file("own"), limit: 1000, supplied: supplied)
    #expect(cache.load(key()) == Self.arrays)
    #expect(cache.load(key("other")) == nil)
    #expect(files(folder.file("own")) == [])
    cache.store([[7]], key())
    cache.store([[8]], key("other"))
    #expect(cache.load(key()) == [[7]])
    #expect(files(supplied).count == 1)
    #expect(bytes(DesignCache(folder: supplied).path(key())) == stored)
  }

  @Test func keyDependsOnTheSetTheRateAndTheSettings() {
    var changed = Self.set
    changed.impulseResponses[12345] += 1e-7
    var turned = Self.set
    turned.directions.swapAt(0, 1)
    var late = Self.set
    late.delays[1] = 0.5
    let keys = [
      key(), key("other"), DesignKey(set: Self.set, sampleRate: 44100, settings: "test"),
      DesignKey(set: changed, sampleRate: 48000, settings: "test"),
      DesignKey(set: turned, sampleRate: 48000, settings: "test"),
      DesignKey(set: late, sampleRate: 48000, settings: "test"),
    ]
    #expect(Set(keys.map(\.name)).count == keys.count)
    #expect(key() == key())
  }

  @Test func corruptEntriesAreRejected() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let cache = DesignCache(folder: folder.path)
    cache.store(Self.arrays, key())
    let intact = bytes(cache.path(key()))
    #expect(intact.count > 60)
    for at in intact.indices {
      var damaged = intact
      damaged[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
      #expect(CacheEntry.arrays(in: damaged, key: key()) == nil, "byte \(at)")
    }
    for count in intact.indices {
      #expect(CacheEntry.arrays(in: Array(intact[..<count]), key: key()) == nil)
    }
    #expect(CacheEntry.arrays(in: intact + [0], key: key()) == nil)
    #expect(CacheEntry.arrays(in: intact, key: key("other")) == nil)
  }

  /// Replaces an entry by damaged files, with shell commands that get its path in $F.
  @Test(arguments: [
    "head -c 100 $F > $F.cut; mv $F.cut $F", ": > $F", "echo nonsense > $F",
    "rm $F; mkfifo $F", "rm $F; ln -s /dev/zero $F", "rm $F; ln -s $F $F", "chmod 0 $F",
    "printf X | dd of=$F bs=1 seek=500 conv=notrunc 2>/dev/null",
  ])
  func damagedEntryIsRedesignedAndReplaced(damage: String) throws {
    let folder = TemporaryFolder()
    let cache = DesignCache(folder: folder.path)
    let design = DecoderDesign(order: 1)
    let first = try design.filters(for: Self.set, sampleRate: 16000, cache: cache)
    let path = "\(folder.path)/\(files(folder.path)[0])"
    _ = try ProgramRun.of("sh", ["-c", "F=\(path); \(damage)"])
    let second = try design.filters(for: Self.set, sampleRate: 16000, cache: cache)
    #expect(first.left == second.left && first.right == second.right)
    #expect(files(folder.path).count == 1)
    let third = try design.filters(for: Self.set, sampleRate: 16000, cache: cache) { true }
    #expect(third.left == first.left, "the replaced entry needs no design")
  }

  @Test func designSucceedsWithAnUnwritableCacheFolder() throws {
    let folder = TemporaryFolder()
    let blocked = try folder.write("a file", to: "file")
    let design = DecoderDesign(order: 1)
    for place in [blocked, "\(blocked)/below", "/proc/stillstage", "/dev/full"] {
      let filters = try design.filters(
        for: Self.set, sampleRate: 16000, cache: DesignCache(folder: place))
      #expect(filters.left.count == 4)
    }
    #expect(files(folder.path) == ["file"])
  }

  @Test func fullFolderEvictsLeastRecentlyUsedEntries() {
    let folder = TemporaryFolder()
    let cache = DesignCache(folder: folder.path, limit: 10_000)
    let block = [[Float](repeating: 1, count: 800)]
    for i in 0..<4 {
      cache.store(block, key("\(i)"))
      usleep(20_000)
    }
    // Three entries fit, so entry 0 has been removed. Using entry 1 makes entry 2 the next to go.
    #expect(cache.load(key("0")) == nil)
    #expect(cache.load(key("1")) == block)
    usleep(20_000)
    cache.store(block, key("4"))
    #expect((0...4).filter { cache.load(key("\($0)")) != nil } == [1, 3, 4])
    cache.store([[Float](repeating: 1, count: 5000)], key("huge"))
    #expect(files(folder.path).count == 3)
  }

  @Test func staleTemporaryFilesAreRemoved() throws {
    let folder = TemporaryFolder()
    try folder.write("x", to: ".new-old")
    try folder.write("x", to: ".new-fresh")
    try folder.write("x", to: "somebody's")
    _ = try ProgramRun.of("touch", ["-d", "2 hours ago", folder.file(".new-old")])
    DesignCache(folder: folder.path).store(Self.arrays, key())
    let remaining = files(folder.path).filter { !$0.hasSuffix(".filters") }
    #expect(remaining == [".new-fresh", "somebody's"])
  }

  @Test func concurrentReadersSeeOnlyCompleteEntries() {
    let folder = TemporaryFolder()
    let path = folder.path
    let wrong = Atomic<Int>(0)
    concurrently(8) { [key = key()] thread in
      let cache = DesignCache(folder: path)
      for turn in 0..<60 {
        cache.store([[Float](repeating: Float(thread), count: 20_000 + turn)], key)
        guard let array = cache.load(key)?.first, array.count >= 20_000,
          array.allSatisfy({ $0 == array[0] })
        else {
          wrong.add(1, ordering: .relaxed)
          continue
        }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(files(path).count == 1)
  }

  @Test func environmentSelectsTheFolder() {
    func folder(_ variables: [String: String]) -> String? {
      DesignCache.standard { variables[$0] }?.folder
    }
    #expect(folder(["HOME": "/h"]) == "/h/.cache/stillstage")
    #expect(folder(["HOME": "/h", "XDG_CACHE_HOME": "/x"]) == "/x/stillstage")
    #expect(folder(["HOME": "/h", "XDG_CACHE_HOME": "x"]) == "/h/.cache/stillstage")
    #expect(folder(["HOME": "/h", "XDG_CACHE_HOME": ""]) == "/h/.cache/stillstage")
    #expect(folder(["HOME": "/h", "STILLSTAGE_CACHE": "/c"]) == "/c")
    #expect(folder(["HOME": "/h", "STILLSTAGE_CACHE": "off"]) == nil)
    #expect(folder(["HOME": "/h", "STILLSTAGE_CACHE": ""]) == "/h/.cache/stillstage")
    #expect(folder([:]) == nil)
    #expect(folder(["HOME": "relative"]) == nil)
  }
}
