// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS
import TestSupport
import Testing

@testable import Playback
@testable import SignalProcessing
@testable import SoundSources

/// Files, folders and playlists, opened through the library without the program.
@Suite struct SoundOpenerTests {
  private static let packed = Packed()

  /// Two seconds of stereo as a WAV file, and as a presentation of two segments.
  private final class Packed: Sendable {
    let folder = TemporaryFolder()
    let problem: String?

    init() {
      mkdir(folder.file("hls"), 0o700)
      mkdir(folder.file("lone"), 0o700)
      let commands = [
        ["-f", "lavfi", "-i", "sine=d=2:r=48000", "-ac", "2", folder.file("lone/a.wav")],
        [
          "-i", folder.file("lone/a.wav"), "-c:a", "aac", "-f", "hls", "-hls_time", "1",
          "-hls_playlist_type", "vod", folder.file("hls/p.m3u8"),
        ],
      ]
      var problem: String?
      for command in commands where problem == nil {
        let run = try? ProgramRun.of("ffmpeg", ["-v", "error", "-y"] + command, timeoutSeconds: 60)
        if run?.exitCode != 0 { problem = run?.errors ?? "ffmpeg cannot be started" }
      }
      self.problem = problem
    }
  }

  private var folder: TemporaryFolder { Self.packed.folder }

  private func frames(_ source: any SoundSource) throws -> Int {
    let source = try prepared(source, settings: RenderSettings())
    let scratch = PlanarScratch(channels: source.layout.channelCount, frames: 4096)
    var frames = 0
    while true {
      let count = try source.read(into: scratch.planes, frames: 4096)
      if count == 0 { return frames }
      frames += count
    }
  }

  /// Returns why the input cannot be opened; nil if it can.
  private func refusal(
    _ input: String, _ options: SoundOpener.Options = .init()
  ) -> SoundOpeningError? {
    do throws(PlaybackError) { _ = try SoundOpener(input, options: options) } catch {
      if case .opening(let reason) = error { return reason }
    }
    return nil
  }

  /// The path and the address of a file, a folder with only that file, a playlist, and its folder.
  @Test(arguments: [
    ("lone/a.wav", false), ("file:lone/a.wav", false), ("lone", false), ("hls/p.m3u8", true),
    ("file:hls/p.m3u8", true), ("hls", true), ("file:lone", false), ("file:hls", true),
  ])
  func pathsAndAddressesAreOpened(_ name: String, isPresentation: Bool) throws {
    #expect(Self.packed.problem == nil)
    let isAddress = name.hasPrefix("file:")
    let path = folder.file(isAddress ? String(name.dropFirst(5)) : name)
    let opener = try SoundOpener(isAddress ? "file://" + path : path)
    // The opener can open repeatedly, and each source can open itself again.
    for _ in 0..<2 {
      let source = try opener.open(sampleRate: 48000)
      #expect(source is HLSSource == isPresentation && (source.stream != nil) == isPresentation)
      #expect(source.layout == .stereo)
      let count = try frames(source)
      #expect(isPresentation ? abs(count - 96000) < 4096 : count == 96000)
      let another = try #require(source.another)
      #expect(try frames(another()) == count)
    }
    #expect(opener.finishKeeping() == nil)
  }

  /// Folders without a playlist, and the file that is played; nil if none is chosen.
  @Test(
    arguments: [
      (["infinity.mp4", "infinity.info.json"], "infinity.mp4"),
      (["a.mp4", "init.mp4"], "a.mp4"), (["a.mp4", "video_init-v1.mp4"], "a.mp4"),
      (["a.mp4", "a_initialization.mp4"], "a.mp4"), (["init.mp4", "a.json"], nil),
      (["a.mp4", "b.mp4.part"], "a.mp4"), (["a.mp4.part", "a.mp4.ytdl"], "a.mp4.part"),
      (["a.f1.mp4.part", "a.f2.m4a"], "a.f2.m4a"), (["a.mp4", "b.mp4"], nil),
    ] as [([String], String?)])
  func soundFileOfAFolderIsChosen(names: [String], chosen: String?) throws {
    let folder = TemporaryFolder()
    for name in names {
      // Unfinished files are the largest.
      try folder.write(name.hasSuffix(".part") ? "larger" : "x", to: name)
    }
    let path = try #require(PresentationFolder(folder.path)).path
    let wanted = chosen.map { path + "/" + $0 } ?? path
    #expect(SoundOpener.file(path) == wanted)
  }

  @Test func playlistIsRecognisedByItsFirstLine() throws {
    try folder.write("#EXTM3U\n#EXTINF:4,\nnone.ts\n#EXT-X-ENDLIST\n", to: "list.txt")
    let error = try #require(refusal(folder.file("list.txt")))
    guard case .presentation(let reason) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(reason.contains("contains nothing to play: "))
  }

  @Test func missingInputsAreReported() throws {
    let none = folder.file("none.m3u8")
    #expect(refusal(none) == .unreadable(none, reason: "No such file or directory"))
    #expect(refusal("ftp://h/x.m3u8") == .unsupportedAddress("ftp://h/x.m3u8", scheme: "ftp"))
    mkdir(folder.file("empty"), 0o700)
    guard case .presentation(let reason)? = refusal(folder.file("empty")) else {
      Issue.record("an empty folder is opened")
      return
    }
    #expect(reason.contains("contains nothing to play: "))
    #expect {
      try SoundOpener(folder.file("none.wav"))
    } throws: { error in
      if case PlaybackError.media? = error as? PlaybackError { true } else { false }
    }
  }

  @Test func fileOutsideTheFolderIsRefusedWithTheRemedy() throws {
    mkdir(folder.file("inner"), 0o700)
    try folder.write(
      "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n../hls/p0.ts\n#EXT-X-ENDLIST\n",
      to: "inner/q.m3u8")
    var options = SoundOpener.Options()
    options.rootRemedy = "name a wider one"
    let refused = try #require(refusal(folder.file("inner/q.m3u8"), options))
    #expect(refused.description.hasSuffix("folder; name a wider one"))
    options.root = folder.path
    #expect(try frames(SoundOpener(folder.file("inner/q.m3u8"), options: options).open()) > 40_000)
  }

  @Test func playedPresentationIsKept() throws {
    let kept = TemporaryFolder()
    var options = SoundOpener.Options()
    options.keepFolder = kept.file("kept")
    let opener = try SoundOpener(folder.file("hls"), options: options)
    let count = try frames(opener.open(sampleRate: 48000))
    #expect(opener.finishKeeping() == nil)
    let again = try SoundOpener(kept.file("kept")).open(sampleRate: 48000)
    #expect(try frames(again) == count)
    #expect(
      refusal(folder.file("lone/a.wav"), options)
        == .fileCannotBeKept(folder.file("lone/a.wav")))
  }

  @Test func interruptEndsOpening() throws {
    var options = SoundOpener.Options()
    let interrupt = InterruptFlag()
    options.interrupt = interrupt
    interrupt.raise()
    #expect {
      try SoundOpener(folder.file("hls"), options: options)
    } throws: { error in
      if case PlaybackError.interrupted? = error as? PlaybackError { true } else { false }
    }
  }
}
