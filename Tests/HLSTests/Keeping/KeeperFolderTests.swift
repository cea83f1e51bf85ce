// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HLS

/// Tests folders that existed before, that are used twice, or that cannot be written.
@Suite struct KeeperFolderTests {
  private let made = TemporaryFolder()
  private var path: String { made.path + "/kept" }
  private let source = "http://h/m.m3u8?token=1"

  private func fill(_ numbers: Range<Int>, _ rendition: KeptRendition = MadeSegments.rendition())
    throws
  {
    let keeper = try PresentationKeeper(folder: path, source: source)
    for number in numbers {
      keeper.keep(
        MadeSegments.segment(number), body: MadeSegments.stream(UInt64(number)), of: rendition)
    }
    keeper.finish()
  }

  @Test func secondRunContinuesInTheFolder() throws {
    try fill(0..<3)
    let rendition = MadeSegments.rendition()
    let keeper = try PresentationKeeper(folder: path, source: "http://h/m.m3u8?token=2")
    for number in 0..<3 { #expect(keeper.has(MadeSegments.segment(number), of: rendition)) }
    #expect(!keeper.has(MadeSegments.segment(3), of: rendition))
    // A segment with the same number is a different one if its address or its byte range differs.
    #expect(!keeper.has(MadeSegments.segment(1, uri: "other.ts"), of: rendition))
    #expect(keeper.has(MadeSegments.segment(1, uri: "seg1.ts?token=2"), of: rendition))
    var part = MadeSegments.segment(1)
    part.range = ByteRange(offset: 0, length: 752)
    #expect(!keeper.has(part, of: rendition))
    // A rendition is still the same if only the query of its address differs.
    #expect(keeper.has(MadeSegments.segment(1), of: MadeSegments.rendition("a.m3u8?token=2")))
    keeper.keep(MadeSegments.segment(3), body: MadeSegments.stream(3), of: rendition)
    keeper.finish()
    #expect(MadeSegments.names(path) == ["kept.json", "master.m3u8", "stereo-128k"])
    #expect(try expectValidPresentation(path).values.first?.count == 4)
  }

  @Test func damagedSegmentsAreDetectedAndDropped() throws {
    try fill(0..<6)
    let folder = path + "/stereo-128k/"
    // The files are in turn truncated, changed at the same length, missing, replaced by a link, and
    // intact.
    try MadeSegments.put(Array(MadeSegments.stream(0).prefix(376)), folder + "00000.ts")
    var wrong = MadeSegments.stream(1)
    wrong[500] ^= 1
    try MadeSegments.put(wrong, folder + "00001.ts")
    unlink(folder + "00002.ts")
    rename(folder + "00003.ts", folder + "away.ts")
    symlink("away.ts", folder + "00003.ts")
    let keeper = try PresentationKeeper(folder: path, source: source)
    let rendition = MadeSegments.rendition()
    let whole = (0..<6).filter { keeper.has(MadeSegments.segment($0), of: rendition) }
    #expect(whole == [4, 5])
    keeper.finish()
    #expect(try expectValidPresentation(path).values.first?.map(\.sequence) == [4, 5])
    // The final check finds damage that happens during the run.
    wrong = MadeSegments.stream(5)
    wrong[10] ^= 1
    try MadeSegments.put(wrong, folder + "00005.ts")
    #expect(keeper.has(MadeSegments.segment(5), of: rendition))
    #expect(keeper.verify(rendition) == [5])
    #expect(!keeper.has(MadeSegments.segment(5), of: rendition))
    keeper.keep(MadeSegments.segment(5), body: MadeSegments.stream(5), of: rendition)
    #expect(keeper.verify(rendition) == [])
  }

  @Test func folderWithoutIntactSegmentsHasNoPlaylists() throws {
    try fill(0..<1)
    unlink(path + "/stereo-128k/00000.ts")
    let keeper = try PresentationKeeper(folder: path, source: source)
    keeper.finish()
    #expect(MadeSegments.names(path) == ["kept.json", "stereo-128k"])
  }

  /// A folder with an invalid record was not made by a keeper, so it is refused.
  @Test(arguments: [
    "", "[]", "{", #"{"version":2,"source":"http://h/m.m3u8","renditions":[]}"#,
  ])
  func folderWithAnInvalidRecordIsRefused(text: String) throws {
    mkdir(path, 0o700)
    try made.write(text, to: "kept/kept.json")
    #expect(throws: KeepingError.isForeign(path: path)) {
      try PresentationKeeper(folder: path, source: source)
    }
  }

  /// No entry of a record can cause access outside the folder or make another file a segment.
  @Test func hostileRecordEntriesAreIgnored() throws {
    try fill(0..<2)
    try made.write("secret", to: "outside.ts")
    let record = String(decoding: try MadeSegments.bytes(path + "/kept.json"), as: UTF8.self)
    for name in ["../x", "/tmp", "..", "a/b", ""] {
      try made.write(
        record.replacing("\"stereo-128k\"", with: "\"\(name)\""), to: "kept/kept.json")
      _ = try PresentationKeeper(folder: path, source: source)
    }
    #expect(MadeSegments.names(made.path) == ["kept", "outside.ts"])
    try made.write(record, to: "kept/kept.json")
    let segments = path + "/stereo-128k/kept.json"
    let rows = String(decoding: try MadeSegments.bytes(segments), as: UTF8.self)
    for (old, new) in [
      ("00000.ts", "../../outside.ts"), ("\"number\":0", "\"number\":-1"),
      ("\"duration\":4", "\"duration\":1e99"), ("\"discontinuity\":0", "\"discontinuity\":-9"),
      ("00000.ts", "kept.json"), ("\"bytes\":752", "\"bytes\":99999999999"),
    ] {
      try #require(rows.contains(old))
      let changed = rows.replacing(old, with: new, maxReplacements: 1)
      try MadeSegments.put(Array(changed.utf8), segments)
      let keeper = try PresentationKeeper(folder: path, source: source)
      #expect(!keeper.has(MadeSegments.segment(0), of: MadeSegments.rendition()), "\(new)")
      if !new.contains("e99"), !new.contains("-9"), !new.contains("999") {
        #expect(keeper.has(MadeSegments.segment(1), of: MadeSegments.rendition()), "\(new)")
      }
    }
  }

  @Test func foldersWithOtherContentAreRefused() throws {
    mkdir(path, 0o700)
    try made.write("mine", to: "kept/notes.txt")
    #expect(throws: KeepingError.isForeign(path: path)) {
      try PresentationKeeper(folder: path, source: source)
    }
    #expect(MadeSegments.names(path) == ["notes.txt"])
    unlink(path + "/notes.txt")
    try made.write("", to: "kept/.hidden")
    try fill(0..<1)
    #expect(
      throws: KeepingError.holdsAnother(path: path, source: "http://h/m.m3u8")
    ) { try PresentationKeeper(folder: path, source: "http://h/other.m3u8") }
    _ = try PresentationKeeper(folder: path, source: "http://me:secret@h/m.m3u8#x")
    #expect("http://me:secret@h:1/a@b".withoutUser == "http://h:1/a@b")
    #expect("/srv/a@b/c".withoutUser == "/srv/a@b/c")
  }

  @Test func folderHasOneWriterAtATime() throws {
    let first = try PresentationKeeper(folder: path, source: source)
    #expect(throws: KeepingError.isInUse(path: path)) {
      try PresentationKeeper(folder: path, source: source)
    }
    first.keep(MadeSegments.segment(0), body: MadeSegments.stream(0), of: MadeSegments.rendition())
    first.finish()
    try expectValidPresentation(path)
  }

  @Test func temporaryFilesOfAKilledWriterAreRemoved() throws {
    try fill(0..<1)
    for name in [".kept.json.abc.kept.part", "stereo-128k/.00001.ts.x.kept.part", ".mine.part"] {
      try made.write("half", to: "kept/" + name)
    }
    try fill(0..<2)
    #expect(MadeSegments.names(path) == [".mine.part", "kept.json", "master.m3u8", "stereo-128k"])
    #expect(
      MadeSegments.names(path + "/stereo-128k") == [
        "00000.ts", "00001.ts", "kept.json", "playlist.m3u8",
      ])
  }

  @Test func unwritableFolderIsReportedWhenOpened() throws {
    try made.write("file", to: "file")
    for (place, reason) in [
      ("file", "Not a directory"), ("none/kept", "No such file or directory"),
    ] {
      let error = KeepingError.cannotWrite(path: made.path + "/" + place, reason: reason)
      #expect(throws: error) {
        try PresentationKeeper(folder: made.path + "/" + place, source: source)
      }
    }
  }

  /// A write error is reported once. What was kept before stays valid, and later segments are kept
  /// if they can be written.
  @Test func writeErrorsAreReportedOnce() throws {
    let keeper = try PresentationKeeper(folder: path, source: source, now: { 0 })
    let rendition = MadeSegments.rendition()
    for number in 0..<2 {
      keeper.keep(
        MadeSegments.segment(number), body: MadeSegments.stream(UInt64(number)), of: rendition)
    }
    for number in 2..<4 { mkdir(path + "/stereo-128k/0000\(number).ts", 0o700) }
    let error = keeper.keep(MadeSegments.segment(2), body: MadeSegments.stream(2), of: rendition)
    #expect(error == keeper.problem)
    let reported = try #require(error)
    let start = "cannot write \(path)/stereo-128k/00002.ts: Is a directory; "
    #expect("\(reported)".hasPrefix(start))
    // The playlists are written at once, because other writes may fail too.
    #expect(try expectValidPresentation(path).values.first?.count == 2)
    #expect(
      keeper.keep(MadeSegments.segment(3), body: MadeSegments.stream(3), of: rendition) == nil)
    keeper.keep(MadeSegments.segment(4), body: MadeSegments.stream(4), of: rendition)
    #expect(keeper.finish() == nil)
    let found = try expectValidPresentation(path)
    #expect(found.values.first?.map(\.isGap) == [false, false, true, true, false])
  }

  @Test func errorBeforeTheFirstSegmentIsReportedWithIt() throws {
    let keeper = try PresentationKeeper(folder: path, source: source)
    try made.write("in the way", to: "kept/stereo-128k")
    let rendition = MadeSegments.rendition()
    keeper.follow(MediaPlaylist(), of: rendition)
    let error = KeepingError.cannotWrite(path: path + "/stereo-128k", reason: "Not a directory")
    #expect(keeper.problem == error)
    let segment = MadeSegments.segment(0)
    #expect(keeper.keep(segment, body: MadeSegments.stream(0), of: rendition) == error)
    #expect(keeper.keep(segment, body: MadeSegments.stream(0), of: rendition) == nil)
    #expect(keeper.finish() == nil)
  }

  private static func mount(_ path: String) throws -> Bool {
    mkdir(path, 0o700)
    return try ProgramRun.of(
      "mount", ["-t", "tmpfs", "-o", "size=64k", "stillstage-test", path]
    ).exitCode == 0
  }

  private static let canMount: Bool = {
    let folder = TemporaryFolder()
    guard (try? mount(folder.file("probe"))) == true else { return false }
    return (try? ProgramRun.of("umount", [folder.file("probe")]).exitCode) == 0
  }()

  /// The full disk is a small file system of its own.
  @Test(.enabled(if: canMount, "a file system cannot be mounted here"))
  func presentationStaysValidOnAFullDisk() throws {
    try #require(try Self.mount(path))
    defer { _ = try? ProgramRun.of("umount", [path]) }
    do {
      let keeper = try PresentationKeeper(folder: path, source: source, now: { 0 })
      let rendition = MadeSegments.rendition()
      var errors: [KeepingError] = []
      for number in 0..<40 {
        let body = MadeSegments.stream(UInt64(number), packets: 21)
        let error = keeper.keep(MadeSegments.segment(number), body: body, of: rendition)
        errors += [error].compactMap(\.self)
      }
      #expect(errors.count == 1)
      #expect(errors.first?.description.contains("No space left on device") == true)
      let kept = try #require(try expectValidPresentation(path).values.first)
      #expect(kept.count >= 8)
      keeper.finish()
      try expectValidPresentation(path)
    }
    let keeper = try PresentationKeeper(folder: path, source: source)
    #expect(
      (0..<8).allSatisfy { keeper.has(MadeSegments.segment($0), of: MadeSegments.rendition()) })
  }
}
