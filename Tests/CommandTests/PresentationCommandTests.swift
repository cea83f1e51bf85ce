// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `stillstage render` with HLS presentations in folders and on a loopback server.
@Suite final class PresentationCommandTests {
  private static let packed = Packed()

  /// Eight seconds of stereo in MPEG-TS, with the playlist `p.m3u8`.
  private final class Packed: Sendable {
    let folder = TemporaryFolder()
    let problem: String?

    init() {
      let run = try? ProgramRun.of(
        "ffmpeg",
        [
          "-v", "error", "-f", "lavfi", "-i",
          "aevalsrc=0.2*sin(2*PI*500*t)|0.2*sin(2*PI*700*t):d=8",
          "-ar", "48000", "-c:a", "aac", "-b:a", "96k", "-f", "hls", "-hls_time", "1.92",
          "-hls_list_size", "0", "-hls_playlist_type", "vod", "-hls_segment_filename",
          folder.file("s%d.ts"), folder.file("p.m3u8"),
        ], timeoutSeconds: 60)
      problem =
        run.flatMap { $0.exitCode == 0 ? nil : $0.errors } ?? (run == nil ? "no ffmpeg" : nil)
    }
  }

  private let made = TemporaryFolder()
  private var out: String { made.file("out.wav") }

  /// Returns a copy of the presentation.
  private func presentation() throws -> TemporaryFolder {
    #expect(Self.packed.problem == nil)
    let copy = TemporaryFolder()
    _ = try ProgramRun.of("cp", ["-r", Self.packed.folder.path + "/.", copy.path])
    return copy
  }

  private func render(_ input: String, _ more: [String] = []) throws -> ProgramRun {
    try Stillstage.run(["render", input, "-o", out, "--to", "stereo", "--upmix", "off"] + more)
  }

  private func frames() throws -> Int {
    var status = stat()
    try #require(stat(out, &status) == 0)
    return (Int(status.st_size) - 44) / 8
  }

  private func fails(_ run: ProgramRun, _ reason: String) {
    #expect(run.exitCode == 1)
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(run.errors.filter { $0 == "\n" }.count == 1)
  }

  @Test func foldersAndPlaylistsRenderToTheirEnd() throws {
    let folder = try presentation()
    var lengths: Set<Int> = []
    for input in [folder.path, folder.file("p.m3u8"), "file://" + folder.file("p.m3u8")] {
      let run = try render(input)
      #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
      lengths.insert(try frames())
    }
    // Segment names with a server's address.
    let text = try ProgramRun.of("sed", ["s#^s#https://gone.example/x/s#", folder.file("p.m3u8")])
    try folder.write(text.output, to: "p.m3u8")
    #expect(try render(folder.path).exitCode == 0)
    lengths.insert(try frames())
    #expect(lengths.count == 1)
    #expect(abs((lengths.first ?? 0) - 8 * 48000) < 4096)
  }

  @Test func missingSegmentsAreSilentAndReported() throws {
    let folder = try presentation()
    _ = try render(folder.path)
    let whole = try frames()
    unlink(folder.file("s2.ts"))
    let run = try render(folder.path, ["--events", made.file("events")])
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("at 0:03") && run.errors.contains("is missing"))
    #expect(run.errors.contains("1.92 s of sound is missing in '\(folder.path)'; download"))
    #expect(try frames() == whole)
    let events = try ProgramRun.of("cat", [made.file("events")]).output
    #expect(events.contains(#""event":"warning""#) && events.contains("is missing"))
    // Sound that is missing at the end counts as well.
    for name in 3..<5 { unlink(folder.file("s\(name).ts")) }
    let short = try render(folder.path)
    #expect(short.exitCode == 1)
    #expect(short.errors.contains("4.1") && short.errors.contains("s of sound is missing in"))
    for name in 0..<5 { unlink(folder.file("s\(name).ts")) }
    fails(try render(folder.path), "s0.ts")
  }

  @Test func variantsMissingFromTheFolderAreIgnored() throws {
    let folder = try presentation()
    try folder.write(
      """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="mp4a.40.2"
      https://gone.example/best/x.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2"
      https://gone.example/small/p.m3u8
      """, to: "master.m3u8")
    let run = try render(folder.path)
    #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
    unlink(folder.file("p.m3u8"))
    // The fragments play without a playlist.
    #expect(try render(folder.path).exitCode == 0)
    for name in 0..<5 { unlink(folder.file("s\(name).ts")) }
    fails(
      try render(folder.path), "the folder contains none of the renditions that the settings allow")
  }

  @Test func filesOutsideTheFolderAreRefusedUnlessRootAllowsThem() throws {
    let folder = try presentation()
    let inner = folder.file("inner")
    mkdir(inner, 0o700)
    let text = try ProgramRun.of("sed", ["s#^s#../s#", folder.file("p.m3u8")])
    try folder.write(text.output, to: "inner/q.m3u8")
    unlink(folder.file("p.m3u8"))
    fails(try render(inner + "/q.m3u8"), "it is outside the presentation's folder")
    #expect(try render(inner + "/q.m3u8", ["--root", folder.path]).exitCode == 0)
    // Links cannot lead outside the folder either.
    for name in 0..<5 { symlink(folder.file("s\(name).ts"), inner + "/s\(name).ts") }
    try folder.write(
      try ProgramRun.of("sed", ["s#^../s#s#", inner + "/q.m3u8"]).output, to: "inner/q.m3u8")
    fails(try render(inner + "/q.m3u8"), "it is outside the presentation's folder")
    // A playlist that another one refers to belongs to the folder of that one.
    try folder.write(text.output, to: "inner/q.m3u8")
    try folder.write(
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS=\"mp4a.40.2\"\ninner/q.m3u8\n",
      to: "master.m3u8")
    #expect(try render(inner + "/q.m3u8").exitCode == 0)
  }

  @Test func serverPresentationRendersAndUnsafeAddressesAreRefused() throws {
    let folder = try presentation()
    let server = try RunningProgram(["python3", Fixtures.httpServer, folder.path])
    let base = "http://127.0.0.1:\(try server.line(with: "", seconds: 20).text)/in/"
    #expect(try render(base + "p.m3u8").exitCode == 0)
    let whole = try frames()
    unlink(folder.file("s1.ts"))
    let run = try render(base + "p.m3u8")
    #expect(
      run.exitCode == 0 && run.errors.contains("the server answered with status 404"),
      "\(run.errors)")
    #expect(try frames() == whole)
    for (uri, rule) in [
      ("file:///etc/passwd", "only http and https are supported"),
      ("http://127.0.0.2/s.ts", "loopback or reserved IP address; a playlist or redirect may lead"),
    ] {
      try folder.write(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(uri)\n#EXT-X-ENDLIST\n", to: "evil.m3u8")
      fails(try render(base + "evil.m3u8"), rule)
    }
    fails(try render(base + "none.m3u8"), "the server answered with status 404")
    try folder.write("<html>", to: "page.m3u8")
    fails(try render(base + "page.m3u8"), "it does not begin with #EXTM3U")
    fails(try render("http://127.0.0.1:1/p.m3u8"), "the host refuses the connection")
  }

  @Test func folderWithoutAPlaylistNeedsAMediaFile() throws {
    let folder = TemporaryFolder()
    fails(try render(folder.path), "it contains no usable playlist")
    let parts = (0..<5).map { Self.packed.folder.file("s\($0).ts") }
    let merged = try ProgramRun.of(
      "sh", ["-c", "cat \(parts.joined(separator: " ")) > \(folder.file("m.ts"))"])
    #expect(merged.exitCode == 0)
    #expect(try render(folder.path).exitCode == 0)
    fails(
      try Stillstage.run(["play", folder.file("m.ts"), "--keep", made.file("kept")]),
      "--keep works only with HLS presentations")
  }
}
