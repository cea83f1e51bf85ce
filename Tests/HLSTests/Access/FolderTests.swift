// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HLS

@Suite struct FolderTests {
  /// Makes a folder with these files. Each file contains its own name.
  private func folder(_ names: [String]) throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    for name in names {
      let parts = name.split(separator: "/")
      var path = folder.path
      for part in parts.dropLast() {
        path += "/\(part)"
        mkdir(path, 0o700)
      }
      try write(name, to: folder.path + "/" + name)
    }
    return folder
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }

  @Test func filesAreFoundByTheNamesThatDownloadersUse() throws {
    let made = try folder([
      "master.m3u8", "a/p.m3u8", "a/seg 1.ts", "a/seg2.ts?token=1", "b/p.m3u8", "b/seg3.ts",
      "b/seg%204.ts", "only.ts",
    ])
    let folder = try #require(PresentationFolder(made.path))
    let root = folder.path
    #expect(
      folder.playlists.map { $0.dropFirst(root.count + 1) } == [
        "master.m3u8", "a/p.m3u8", "b/p.m3u8",
      ])
    let (a, b) = (root + "/a/p.m3u8", root + "/b/p.m3u8")
    #expect(folder.file(for: "seg%201.ts", from: a) == root + "/a/seg 1.ts")
    #expect(folder.file(for: "seg2.ts?token=1", from: a) == root + "/a/seg2.ts?token=1")
    #expect(folder.file(for: "seg3.ts?token=1", from: b) == root + "/b/seg3.ts")
    #expect(folder.file(for: "seg%204.ts", from: b) == root + "/b/seg%204.ts")
    #expect(folder.file(for: "https://old.example/x/b/p.m3u8", from: root + "/master.m3u8") == b)
    #expect(folder.file(for: "https://old.example/x/p.m3u8", from: root + "/master.m3u8") == nil)
    #expect(folder.file(for: "https://old.example/only.ts?x#y", from: a) == root + "/only.ts")
    #expect(folder.file(for: "/srv/videos/b/seg3.ts", from: a) == root + "/b/seg3.ts")
    #expect(folder.file(for: "seg9.ts", from: a) == nil)
    #expect(PresentationFolder(made.path + "/none") == nil)
  }

  /// Renditions often use the same file names. So a missing segment must not be replaced by the
  /// segment of the same name in another rendition.
  @Test func missingSegmentIsNotReplacedFromAnotherRendition() throws {
    let made = try folder([
      "master.m3u8", "a/p.m3u8", "a/seg0.ts", "b/p.m3u8", "b/seg0.ts", "b/seg1.ts", "all/seg2.ts",
      "c/p.m3u8", "d/p.m3u8", "b/k.key", "a/only.ts",
    ])
    let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nseg0.ts\n#EXTINF:4,\nseg1.ts\n"
    for name in ["a", "b", "d"] { try write(media, to: "\(made.path)/\(name)/p.m3u8") }
    let folder = try #require(PresentationFolder(made.path))
    let root = folder.path
    let a = root + "/a/p.m3u8"
    #expect(folder.file(for: "seg0.ts", from: a) == root + "/a/seg0.ts")
    #expect(folder.file(for: "seg1.ts", from: a) == nil)
    #expect(folder.file(for: "https://old.example/seg1.ts", from: a) == nil)
    // This holds for any spelling of the playlist's own path.
    for path in ["/./a/p.m3u8", "//a/p.m3u8", "/b/../a/p.m3u8"] {
      #expect(
        folder.file(for: "https://old.example/only.ts", from: root + path) == root + "/a/only.ts")
      #expect(folder.file(for: "seg1.ts", from: root + path) == nil)
    }
    // A key may be shared by all renditions.
    #expect(folder.file(for: "https://old.example/k.key", from: a) == root + "/b/k.key")
    // A playlist without segments beside it uses those of another folder.
    #expect(folder.file(for: "seg1.ts", from: root + "/d/p.m3u8") == root + "/b/seg1.ts")
    // Three cases in which files of other folders are used: the address names the folder, the
    // folder has segments but no playlist, or the file is a playlist.
    #expect(folder.file(for: "https://old.example/b/seg1.ts", from: a) == root + "/b/seg1.ts")
    #expect(folder.file(for: "seg2.ts", from: a) == root + "/all/seg2.ts")
    #expect(
      folder.file(for: "https://old.example/c/p.m3u8", from: root + "/master.m3u8")
        == root + "/c/p.m3u8")
  }

  @Test func onlyRegularFilesInTheFolderAreOpened() throws {
    let made = try folder(["in/a.ts", "out.ts"])
    let root = try #require(PresentationFolder(made.path + "/in")).path
    #expect(symlink("../out.ts", root + "/link.ts") == 0)
    #expect(symlink("a.ts", root + "/good.ts") == 0)
    #expect(mkfifo(root + "/pipe.ts", 0o600) == 0)
    let rules = AccessRules(.folder(root), remedy: "move it")
    func problem(_ path: String) -> String? {
      do throws(LocalFile.Problem) {
        _ = try LocalFile(path: root + "/" + path, address: path, rules: rules)
        return nil
      } catch {
        switch error {
        case .refused(let refusal): return refusal.rule
        case .unreadable(let reason): return reason
        }
      }
    }
    #expect(problem("a.ts") == nil && problem("good.ts") == nil)
    for path in ["link.ts", "../out.ts"] {
      #expect(problem(path) == "it is outside the presentation's folder; move it")
    }
    #expect(problem("pipe.ts") == "it is not a regular file")
    #expect(problem(".") == "it is not a regular file")
    #expect(problem("none") == "No such file or directory")
  }

  @Test func byteRangesEndAtTheEndOfTheFile() throws {
    let made = try folder(["abcdefgh"])
    let root = try #require(PresentationFolder(made.path)).path
    let file = try LocalFile(
      path: root + "/abcdefgh", address: "", rules: AccessRules(.folder(root)))
    #expect(file.size == 8)
    #expect(try file.read(ByteRange(offset: 2, length: 3)) == Array("cde".utf8))
    #expect(try file.read(ByteRange(offset: 6, length: 9)) == Array("gh".utf8))
    #expect(try file.read(ByteRange(offset: 100, length: 9)) == [])
  }
}
