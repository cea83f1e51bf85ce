// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

@testable import Capture

/// Damaged movies as the source of `MovieMerger`.
@Suite struct MovieMergerTests {
  /// The files of the test: a movie of two tracks, and a movie to add them to.
  private let folder: TemporaryFolder
  private let source: [UInt8]
  private let target: [UInt8]

  init() throws {
    folder = TemporaryFolder()
    let tone = ["-f", "lavfi", "-i", "sine=440:duration=0.3"]
    for (name, codecs) in [
      ("source.mov", ["-map", "0", "-c:a:0", "pcm_s16le", "-map", "0", "-c:a:1", "aac"]),
      ("target.mov", ["-c:a", "pcm_s24le"]),
    ] {
      let run = try ProgramRun.of(
        "ffmpeg", ["-v", "error", "-y"] + tone + codecs + [folder.file(name)])
      try #require(run.exitCode == 0, "\(run.errors)")
    }
    source = try SystemFile.contents(folder.file("source.mov"), limit: 1 << 20)
    target = try SystemFile.contents(folder.file("target.mov"), limit: 1 << 20)
  }

  /// Returns the offset of the type of the first box of a type in the source.
  private func place(of type: String) throws -> Int {
    let name = Array(type.utf8)
    return try #require(source.indices.dropLast(3).first { Array(source[$0..<$0 + 4]) == name })
  }

  /// Adds the tracks of a movie with these bytes to the target.
  private func merge(_ bytes: [UInt8]) throws -> [UInt32] {
    _ = try folder.write(bytes, to: "damaged.mov")
    _ = try folder.write(target, to: "merged.mov")
    return try MovieMerger.add(
      from: folder.file("damaged.mov"), except: [], replaced: (0, 0),
      to: folder.file("merged.mov"))
  }

  @Test func tracksGetNewNumbers() throws {
    #expect(try merge(source) == [])
    let run = try ProgramRun.of(
      "ffprobe",
      ["-v", "error", "-show_entries", "stream=id", "-of", "csv=p=0", folder.file("merged.mov")])
    #expect(run.output.split(separator: "\n") == ["0x1", "0x2", "0x3"], "\(run.output)")
  }

  /// FFmpeg numbers the tracks of a movie in the order of `TrackCopier.Result.copied`.
  @Test func copiedTracksAreDescribedInTheirOrder() throws {
    let input = TrackCopier.Input(path: folder.file("source.mov")) { _ in true }
    let result = try TrackCopier.copy([input], to: folder.file("copy.mov"), format: "mov")
    #expect(result.copied == ["track 1 (audio)", "track 2 (audio)"] && result.refused.isEmpty)
    _ = try folder.write(target, to: "merged.mov")
    let none = try MovieMerger.add(
      from: folder.file("copy.mov"), except: [1], replaced: (0, 0), to: folder.file("merged.mov"))
    let tracks = try ProgramRun.of(
      "ffprobe",
      ["-v", "error", "-show_entries", "stream=id", "-of", "csv=p=0", folder.file("merged.mov")])
    #expect(none == [] && tracks.output.split(separator: "\n").count == 2)
  }

  /// Boxes without their fields, huge counts and the largest track number.
  @Test(arguments: ["dref", "stsd", "stsz", "stsc", "tkhd"]) func extremeFields(
    _ type: String
  ) throws {
    let at = try place(of: type)
    var short = source
    short.replaceSubrange(at - 4..<at, with: [0, 0, 0, 8])
    _ = try? merge(short)
    for first in [0, 4, 8, 12] {
      var huge = source
      huge.replaceSubrange(at + 4 + first..<at + 8 + first, with: [255, 255, 255, 255])
      _ = try? merge(huge)
    }
    var sizes = source
    let stsz = try place(of: "stsz")
    let stsc = try place(of: "stsc")
    sizes.replaceSubrange(stsz + 8..<stsz + 16, with: [UInt8](repeating: 255, count: 8))
    sizes.replaceSubrange(stsc + 16..<stsc + 20, with: [255, 255, 255, 255])
    _ = try? merge(sizes)
    var numbers = source
    let tkhd = try place(of: "tkhd")
    numbers.replaceSubrange(tkhd + 16..<tkhd + 20, with: [255, 255, 255, 255])
    #expect(try merge(numbers) == [])
  }

  @Test func mutations() throws {
    var generator = SeededGenerator(5)
    let index = try place(of: "moov") - 4
    for _ in 0..<400 {
      var bytes = source
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        let at = Int.random(in: index..<bytes.count, using: &generator)
        bytes[at] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
      }
      _ = try? merge(bytes)
    }
  }
}
