// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests `stillstage fetch` with a server on the loopback interface
/// (Tests/Fixtures/http_server.py).
@Suite final class FetchCommandTests {
  private let source = TemporaryFolder()
  private let made = TemporaryFolder()
  private var output: String { made.file("kept") }
  private let server: RunningProgram
  private let port: String

  init() throws {
    server = try RunningProgram(["python3", Fixtures.httpServer, source.path])
    port = try server.line(with: "", seconds: 20).text
  }

  /// Writes a presentation with a stereo and a 5.1 rendition of `count` segments each.
  private func make(_ count: Int) throws {
    try source.write(
      """
      #EXTM3U
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="st",NAME="Stereo",DEFAULT=YES,CHANNELS="2",URI="st.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ch",NAME="Surround",DEFAULT=YES,CHANNELS="6",URI="ch.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2",AUDIO="st"
      st.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=384000,CODECS="ac-3",AUDIO="ch"
      ch.m3u8
      """, to: "m.m3u8")
    for name in ["st", "ch"] {
      let entries = (0..<count).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined()
      try source.write(
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(entries)#EXT-X-ENDLIST\n", to: "\(name).m3u8")
      for number in 0..<count { try source.write(stream(number), to: "\(name)\(number).ts") }
    }
  }

  /// Returns transport stream packets filled with one letter.
  private func stream(_ number: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(0x61 + number % 26)))
    return String(repeating: "G" + String(repeating: letter, count: 187), count: 40)
  }

  private func arguments(_ name: String = "m.m3u8") -> [String] {
    ["fetch", "http://127.0.0.1:\(port)/in/\(name)", "-o", output]
  }

  private func fails(_ arguments: [String], _ reason: String) throws {
    let run = try Stillstage.run(arguments)
    #expect(run.exitCode == 1 && run.output.isEmpty)
    #expect(run.errors.contains(reason), "\(run.errors)")
  }

  /// The server never answers, or sends 10 bytes every 0.2 s.
  @Test(arguments: ["hang", "trickle/10"]) func slowServerIsGivenUp(path: String) throws {
    let clock = ContinuousClock()
    for command in ["fetch", "render"] {
      let start = clock.now
      try fails(
        [command, "http://127.0.0.1:\(port)/\(path)", "-o", output, "--timeout", "2"],
        "the server sent less than 100 bytes/s for 2 s")
      #expect((1.9..<4).contains((clock.now - start) / .seconds(1)))
    }
  }

  @Test func terminalShowsTheServerThatIsWaitedFor() throws {
    let command = "\(Stillstage.path) fetch http://127.0.0.1:\(port)/hang -o \(output) --timeout 6"
    let run = try ProgramRun.of("script", ["-qec", command, "/dev/null"])
    #expect(
      run.output.contains(
        "\rwaiting for 127.0.0.1: 0 kB after 2 s (gives up after 6 s below 100 bytes/s)"))
    #expect(run.exitCode == 1)
    #expect(run.output.contains("the server sent less than 100 bytes/s for 6 s"))
  }

  private func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(output)/\(folder)")) ?? []).sorted()
  }

  @Test func fetchWritesAPresentationAndSkipsCompleteSegments() throws {
    try make(3)
    let first = try Stillstage.succeed(arguments())
    #expect(
      first.output
        == "Stereo (st), Surround (ch): 6 segments are complete; "
        + "this run fetched 6 of them (0.0 MB)\n")
    #expect(first.errors.isEmpty)
    #expect(names("") == ["6ch-384k", "kept.json", "master.m3u8", "stereo-128k"])
    let segments = ["00000.ts", "00001.ts", "00002.ts", "kept.json", "playlist.m3u8"]
    #expect(names("6ch-384k") == segments)
    let again = try Stillstage.succeed(arguments())
    #expect(again.output.contains("6 segments are complete; this run fetched 0 of them"))
    // The kept folder is itself a presentation that can be fetched.
    let copy = made.file("copy")
    let last = try Stillstage.succeed(["fetch", output, "-o", copy, "--renditions", "all"])
    #expect(last.output.contains("this run fetched 6 of them"))
    try fails(["fetch", output, "-o", "\(output)/copy"], "is the source folder or is inside it")
  }

  @Test func optionsChooseTheRenditions() throws {
    try make(1)
    for (options, kept) in [
      (["--prefer", "stereo"], "stereo-128k"), (["--max-bitrate", "200k"], "stereo-128k"),
      (["--renditions", "surround"], "6ch-384k"),
    ] {
      _ = try Stillstage.succeed(arguments() + options)
      #expect(names("") == [kept, "kept.json", "master.m3u8"].sorted())
      _ = try ProgramRun.of("rm", ["-r", output])
    }
    try fails(arguments() + ["--renditions", "Suomi"], "choose from: Stereo (st), Surround (ch)")
    try fails(arguments() + ["--max-bitrate", "64k"], "every requested rendition exceeds")
    let wrong = try Stillstage.run(arguments() + ["--max-bitrate", "fast"])
    #expect(wrong.exitCode == 2 && wrong.errors.contains("such as 256k or 1.5M"))
  }

  @Test func missingSegmentsFailTheFetchUntilAvailable() throws {
    try make(4)
    unlink(source.file("st2.ts"))
    try fails(arguments(), "Stereo (st): segment 2 is missing: the server answered with status 404")
    try fails(arguments(), "1 of 8 segments is missing in '\(output)'; run the same")
    try source.write(stream(2), to: "st2.ts")
    let run = try Stillstage.succeed(arguments())
    #expect(run.output.contains("8 segments are complete; this run fetched 1 of them"))
  }

  @Test func invalidSourcesAndOutputsAreRefused() throws {
    try source.write("#EXTM3U\n#EXTINF:4,\na.ts\n", to: "live.m3u8")
    try source.write("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n", to: "empty.m3u8")
    try source.write("<html>", to: "page.m3u8")
    for (name, reason) in [
      ("live.m3u8", "is live"), ("empty.m3u8", "contains no segments"),
      ("page.m3u8", "is not a valid playlist"),
      ("none.m3u8", "the server answered with status 404"),
    ] {
      try fails(arguments(name), reason)
    }
    try fails(
      ["fetch", "ftp://h/x", "-o", output], "neither a path nor a valid http or https address")
    try fails(["fetch", source.file("none"), "-o", output], "No such file or directory")
    #expect(access(output, F_OK) != 0)
    try make(1)
    try made.write("mine", to: "file")
    try fails(["fetch", source.path, "-o", made.file("file")], "Not a directory")
    try fails(["fetch", source.path, "-o", made.path], "is not empty")
    try fails(["fetch", source.path, "-o", "/proc/kept"], "cannot write /proc/kept")
  }

  @Test func interruptStopsTheFetchAtOnceAndItResumes() throws {
    try make(20)
    try source.write("0.2", to: "delay")
    let run = try RunningProgram([Stillstage.path] + arguments())
    #expect(waitUntil(seconds: 20) { names("stereo-128k").count >= 4 })
    try fails(arguments(), "is in use")
    kill(run.pid, SIGINT)
    #expect(run.wait(seconds: 2) == 130)
    unlink(source.file("delay"))
    let fetched = names("stereo-128k").count { $0.hasSuffix(".ts") }
    let playlist = try String(
      decoding: Data(contentsOf: URL(filePath: output + "/stereo-128k/playlist.m3u8")),
      as: UTF8.self)
    #expect(playlist.split(separator: "\n").count { $0.hasSuffix(".ts") } == fetched)
    #expect(playlist.hasSuffix("#EXT-X-ENDLIST\n"))
    let rest = try Stillstage.succeed(arguments())
    #expect(
      rest.output.contains("40 segments are complete; this run fetched \(40 - fetched) of them"))
  }

  @Test func killedFetchLeavesAValidPresentation() throws {
    try make(20)
    try source.write("0.1", to: "delay")
    let run = try RunningProgram([Stillstage.path] + arguments())
    #expect(waitUntil(seconds: 20) { names("stereo-128k").count { $0.hasSuffix(".ts") } >= 15 })
    kill(run.pid, SIGKILL)
    run.wait()
    unlink(source.file("delay"))
    let copy = try Stillstage.succeed(["fetch", output, "-o", made.file("copy")])
    #expect(copy.errors.isEmpty && copy.output.contains("segments are complete"))
    let rest = try Stillstage.succeed(arguments())
    #expect(rest.output.contains("40 segments are complete"))
  }

  /// A limited file size acts like a full disk: a one-line error, and completed files remain.
  @Test func fullDiskGivesAOneLineError() throws {
    try make(3)
    let limited = try ProgramRun.of(
      "sh", ["-c", "ulimit -f 4; exec \"$0\" \"$@\"", Stillstage.path] + arguments())
    #expect(limited.exitCode == 1 && limited.output.isEmpty)
    let line = "stillstage: cannot write \(output)/stereo-128k/00000.ts: File too large; "
    #expect(limited.errors.hasPrefix(line) && limited.errors.split(separator: "\n").count == 1)
    #expect(names("stereo-128k") == [])
    _ = try Stillstage.succeed(arguments())
  }
}
