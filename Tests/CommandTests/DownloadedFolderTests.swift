// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `stillstage render` with folders as download programs leave them.
@Suite final class DownloadedFolderTests {
  private static let packed = Packed()

  /// Eight seconds of stereo as MPEG-TS (`t0.ts`), fragmented MP4 (`init.mp4`, `m0.m4s`) and ADTS
  /// (`a0.aac`).
  private final class Packed: Sendable {
    let folder = TemporaryFolder()
    let problem: String?

    init() {
      let common = [
        "-v", "error", "-f", "lavfi", "-i",
        "aevalsrc=0.2*sin(2*PI*500*t)|0.2*sin(2*PI*700*t):s=48000:d=8", "-c:a", "aac", "-b:a",
        "96k",
      ]
      let hls = ["-f", "hls", "-hls_time", "1.92", "-hls_list_size", "0", "-hls_segment_filename"]
      let forms = [
        hls + [folder.file("t%d.ts"), folder.file("t.m3u8")],
        hls + [folder.file("m%d.m4s"), "-hls_segment_type", "fmp4", folder.file("m.m3u8")],
        ["-f", "segment", "-segment_time", "1.92", folder.file("a%d.aac")],
      ]
      var problem: String?
      for form in forms where problem == nil {
        let run = try? ProgramRun.of("ffmpeg", common + form, timeoutSeconds: 60)
        if run?.exitCode != 0 { problem = run?.errors ?? "ffmpeg cannot be started" }
      }
      self.problem = problem
    }
  }

  private let folder = TemporaryFolder()
  private let made = TemporaryFolder()

  init() throws { try #require(Self.packed.problem == nil) }

  /// Copies a packed file into the folder under another name.
  private func put(_ name: String, as new: String) throws {
    if let slash = new.lastIndex(of: "/") {
      _ = try ProgramRun.of("mkdir", ["-p", folder.file(String(new[..<slash]))])
    }
    let run = try ProgramRun.of("cp", [Self.packed.folder.file(name), folder.file(new)])
    try #require(run.exitCode == 0, "\(run.errors)")
  }

  /// Joins packed files.
  private func join(_ names: [String], as new: String) throws {
    let files = names.map(Self.packed.folder.file).joined(separator: " ")
    let run = try ProgramRun.of("sh", ["-c", "cat \(files) > '\(folder.file(new))'"])
    try #require(run.exitCode == 0, "\(run.errors)")
  }

  private func render() throws -> ProgramRun {
    let out = made.file("out.wav")
    return try Stillstage.run(["render", folder.path, "-o", out, "--to", "stereo"])
  }

  private func expectWhole() throws {
    let run = try render()
    #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
    var status = stat()
    try #require(stat(made.file("out.wav"), &status) == 0)
    let seconds = Double(status.st_size - 44) / (8 * 48000)
    #expect(abs(seconds - 8) < 0.1)
  }

  private static let fragments = ["init.mp4"] + (0..<5).map { "m\($0).m4s" }

  /// yt-dlp with `--keep-fragments`, and after an interruption.
  @Test(arguments: [true, false]) func ytDlp(isFinished: Bool) throws {
    for (number, name) in Self.fragments.enumerated() {
      try put(name, as: "a.mp4.part-Frag\(number + 1)")
    }
    if isFinished { try join(Self.fragments, as: "a.mp4") }
    try folder.write("{}", to: "a.info.json")
    try expectWhole()
  }

  /// yt-dlp with two formats that were not merged.
  @Test func ytDlpFormats() throws {
    try join(Self.fragments, as: "a.f1.mp4")
    try join(Array(Self.fragments.prefix(3)), as: "a.f2.mp4")
    try folder.write("{}", to: "a.info.json")
    try expectWhole()
  }

  /// wget keeps the query in the names, on Windows after an "@".
  @Test(arguments: ["?token=a1", "@token=a1"]) func wget(query: String) throws {
    for number in 0..<5 { try put("t\(number).ts", as: "host:80/s/t\(number).ts\(query)") }
    try put("t.m3u8", as: "host:80/s/t.m3u8\(query)")
    try folder.write(
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=96000,CODECS=\"mp4a.40.2\"\ns/t.m3u8?token=b2\n",
      to: "host:80/m.m3u8\(query)")
    try expectWhole()
  }

  /// ffmpeg with `-hls_list_size 2`, which leaves all segments but lists only two.
  @Test func ffmpegWithAShortList() throws {
    for number in 0..<5 { try put("t\(number).ts", as: "t\(number).ts") }
    try folder.write(
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:3\n#EXTINF:1.92,\nt3.ts\n"
        + "#EXTINF:0.32,\nt4.ts\n#EXT-X-ENDLIST\n", to: "t.m3u8")
    try expectWhole()
  }

  /// N_m3u8DL-RE numbers the segments itself and keeps the server's playlist as `raw.m3u8`.
  @Test(arguments: ["t", "m"]) func unmergedNm3u8DL(kind: String) throws {
    let text = try ProgramRun.of(
      "sed", ["s#^\(kind)#https://h.example/v/x#", Self.packed.folder.file("\(kind).m3u8")])
    try folder.write(text.output, to: "raw.m3u8")
    try folder.write("[]", to: "meta.json")
    let suffix = kind == "t" ? "ts" : "m4s"
    for number in 0..<5 { try put("\(kind)\(number).\(suffix)", as: "0____/\(number).\(suffix)") }
    if kind == "m" { try put("init.mp4", as: "0____/_init.mp4") }
    try expectWhole()
  }

  @Test func moviePackage() throws {
    var entries = ""
    for number in 0..<5 {
      try put("m\(number).m4s", as: "0-AB/0-AB_\(number).frag")
      entries += """
        <SEG Dur="\(number == 4 ? 0.32 : 1.92)" Len="0" Off="0" PATH="0-AB_\(number).frag"
          SeqNum="\(number)" Tim="\(Double(number) * 1.92)" URL="https://h.example/m?a=1&amp;b=2"/>

        """
    }
    try put("init.mp4", as: "0-AB/0-AB.initfrag")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <HLSMoviePackage xmlns="http://apple.com/IMG/Schemas/HLSMoviePackage"><Version>1.0</Version>
      <Streams><Stream ID="0-AB" Path="0-AB" NetworkURL="https://h.example/m.m3u8">
      <Complete>YES</Complete></Stream></Streams></HLSMoviePackage>
      """, to: "boot.xml")
    let info = """
      <?xml version="1.0" encoding="UTF-8"?>
      <StreamInfo><Version>1.0</Version><Type>Audio</Type>
      <MediaInitializationSegments><ISEG Len="0" Off="0" PATH="0-AB.initfrag"/>
      </MediaInitializationSegments><MediaSegments>\(entries)</MediaSegments></StreamInfo>
      """
    try folder.write(info, to: "0-AB/StreamInfoBoot.xml")
    try expectWhole()
    // The fragments play even without the description of the stream.
    unlink(folder.file("0-AB/StreamInfoBoot.xml"))
    try expectWhole()
  }

  @Test(arguments: ["a%d.aac", "t%d.ts", "m%d.m4s"]) func bareFragments(pattern: String) throws {
    let name = { (number: Int) in
      pattern.split(separator: "%d").joined(separator: "\(number)")
    }
    for number in 0..<5 where access(Self.packed.folder.file(name(number)), F_OK) == 0 {
      try put(name(number), as: name(number))
    }
    if pattern.hasPrefix("m") { try put("init.mp4", as: "init.mp4") }
    try expectWhole()
    guard !pattern.hasPrefix("a") else { return }
    unlink(folder.file(name(2)))
    let run = try render()
    #expect(run.exitCode == 1 && run.errors.contains("1.92 s of sound is missing"), "\(run.errors)")
  }

  @Test func folderThatCannotBePlayedSaysWhatToDo() throws {
    try join(Self.fragments, as: "one.mp4")
    try join(Self.fragments, as: "other.mp4")
    let run = try render()
    #expect(
      run.exitCode == 1 && run.errors.contains("give the path of a sound file"), "\(run.errors)")
  }
}
