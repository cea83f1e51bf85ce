// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `stillstage render` with presentations that are cut off, and with servers that have
/// faults.
@Suite final class PresentationFaultTests {
  private static let packed = Packed()

  /// Eight seconds of sound as 5.1 (`hi`) and stereo (`lo`), in five segments of MPEG-TS each.
  private final class Packed: Sendable {
    let folder = TemporaryFolder()
    let problem: String?

    init() {
      var problem: String?
      for (name, channels, codec) in [("hi", 6, "eac3"), ("lo", 2, "aac")] {
        let tones = (0..<channels).map { "0.1*sin(2*PI*\(500 + 200 * $0)*t)" }
        let layout = channels == 6 ? "5.1" : "stereo"
        let source = "aevalsrc=\(tones.joined(separator: "|")):c=\(layout)"
        let run = try? ProgramRun.of(
          "ffmpeg",
          [
            "-v", "error", "-f", "lavfi", "-i", source + ":d=8:s=48000", "-c:a", codec, "-b:a",
            channels == 6 ? "192k" : "96k", "-f", "hls", "-hls_time", "1.92", "-hls_list_size", "0",
            "-hls_segment_filename", folder.file("\(name)%d.ts"), folder.file("\(name).m3u8"),
          ], timeoutSeconds: 60)
        if run?.exitCode != 0 { problem = run?.errors ?? "ffmpeg cannot be started" }
      }
      self.problem = problem
    }
  }

  private let folder = TemporaryFolder()
  private let made = TemporaryFolder()
  private let server: RunningProgram
  private let base: String
  private var out: String { made.file("out.wav") }

  init() throws {
    try #require(Self.packed.problem == nil)
    _ = try ProgramRun.of("cp", ["-r", Self.packed.folder.path + "/.", folder.path])
    server = try RunningProgram(["python3", Fixtures.httpServer, folder.path])
    base = "http://127.0.0.1:\(try server.line(with: "", seconds: 20).text)/in/"
    try writeMaster()
  }

  private func writeMaster(
    channels: String = "6", steering: String = "", _ more: String = ""
  ) throws {
    try folder.write(
      """
      #EXTM3U
      \(steering)
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="a",CHANNELS="\(channels)",URI="hi.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="t",NAME="a",CHANNELS="2",URI="lo.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2",AUDIO="t"
      lo.m3u8
      \(more)
      #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="ec-3",AUDIO="s"
      hi.m3u8
      """, to: "m.m3u8")
  }

  private func render(_ input: String, _ more: [String] = []) throws -> ProgramRun {
    try Stillstage.run(["render", input, "-o", out, "--to", "5.1", "--upmix", "off"] + more)
  }

  /// Duration of the rendered file, in s.
  private func seconds() throws -> Double {
    var status = stat()
    try #require(stat(out, &status) == 0)
    return Double(status.st_size - 68) / 48000 / 24
  }

  /// Applies a `sed` script to a playlist.
  private func edit(_ name: String, _ script: String, to new: String? = nil) throws {
    let run = try ProgramRun.of("sed", [script, folder.file(name)])
    try folder.write(run.output, to: new ?? name)
  }

  private func expectWhole(_ run: ProgramRun) throws {
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(abs(try seconds() - 8) < 0.1)
  }

  // MARK: Folders

  @Test func renditionThatEndsEarlyIsContinuedByTheOther() throws {
    try edit("hi.m3u8", "/hi2/,$ { /EXTINF/d; /ts/d }")
    try edit("hi.m3u8", "$ d; ")
    let run = try render(folder.path)
    try expectWhole(run)
    #expect(run.errors.contains("with 6 channels at 200 kbit/s cannot be used from 0:03 on"))
    #expect(run.errors.contains("its playlist ends there"), "\(run.errors)")
  }

  @Test func gapInOneRenditionIsFilledFromTheOther() throws {
    try edit("hi.m3u8", "/EXTINF/ { x; s/^/i/; x }; 0,/EXTINF/ s/#EXTINF/#EXT-X-GAP\\n#EXTINF/")
    let run = try render(folder.path)
    try expectWhole(run)
    #expect(run.errors.contains("the playlist marks a gap there"), "\(run.errors)")
  }

  @Test func recordingOfALivePresentationPlaysCompletely() throws {
    for name in ["hi", "lo"] {
      try edit("\(name).m3u8", "/ENDLIST/d; s/SEQUENCE:0/SEQUENCE:700/")
      try edit("\(name).m3u8", "2 i #EXT-X-START:TIME-OFFSET=-2")
    }
    for input in [folder.path, folder.file("m.m3u8"), folder.file("hi.m3u8")] {
      let run = try render(input)
      try expectWhole(run)
      #expect(run.errors.isEmpty, "\(run.errors)")
    }
  }

  // MARK: Servers

  @Test func redundantVariantsAreTriedInOrder() throws {
    // The first place answers 404, and in the second one, a segment is missing.
    try edit("hi.m3u8", "s/hi3/none/", to: "second.m3u8")
    try writeMaster(
      """
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s2",NAME="a",CHANNELS="6",URI="second.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s1",NAME="a",CHANNELS="6",URI="../status/404"
      #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="ec-3",AUDIO="s1"
      ../status/404
      #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="ec-3",AUDIO="s2"
      second.m3u8
      """)
    let run = try render(base + "m.m3u8")
    try expectWhole(run)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 2, "\(run.errors)")
    #expect(lines.first?.contains("second.m3u8' replaces '") == true)
    #expect(lines.last?.contains("hi.m3u8' replaces '") == true)
    #expect(lines.allSatisfy { $0.contains("404") })
  }

  @Test func firstPathwayIsPreferred() throws {
    try writeMaster(
      steering: "#EXT-X-CONTENT-STEERING:SERVER-URI=\"x\",PATHWAY-ID=\"b\"",
      """
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sb",NAME="a",CHANNELS="6",URI="b.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="ec-3",AUDIO="sb",PATHWAY-ID="b"
      b.m3u8
      """)
    try edit("hi.m3u8", "", to: "b.m3u8")
    try expectWhole(try render(base + "m.m3u8"))
    let log = try ProgramRun.of("curl", ["-s", String(base.dropLast(3)) + "log"]).output
    #expect(log.contains("/in/b.m3u8") && !log.contains("/in/hi.m3u8"))
  }

  @Test func deltaUpdateIsRequestedAgainAsAWhole() throws {
    try edit("hi.m3u8", "/hi0/d; 0,/EXTINF/ s/#EXTINF.*/#EXT-X-SKIP:SKIPPED-SEGMENTS=1/")
    try edit("hi.m3u8", "", to: "hi.m3u8.delta")
    _ = try ProgramRun.of("cp", [Self.packed.folder.file("hi.m3u8"), folder.path])
    let run = try render(base + "hi.m3u8?_HLS_skip=YES")
    try expectWhole(run)
    #expect(run.errors.isEmpty, "\(run.errors)")
  }

  @Test func malformedAttributesGiveOneNoteEach() throws {
    try writeMaster(channels: "5.1")
    try edit("m.m3u8", "s/BANDWIDTH=200000/BANDWIDTH=200000.5/")
    let run = try render(base + "m.m3u8")
    try expectWhole(run)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 2 && lines.contains { $0.contains("CHANNELS is '5.1'") })
    #expect(lines.contains { $0.contains("BANDWIDTH is '200000.5'") })
  }

  @Test func lossOfTheBestRenditionIsReportedOnce() throws {
    for number in 1..<4 { unlink(folder.file("hi\(number).ts")) }
    let run = try render(base + "m.m3u8")
    try expectWhole(run)
    let notes = run.errors.split(separator: "\n")
    #expect(
      notes.count == 1 && notes[0].contains("6 channels at 200 kbit/s cannot be used from 0:01"))
  }

  @Test func livePlaylistThatStopsIsRequestedForSomeTime() throws {
    try edit("lo.m3u8", "/ENDLIST/d")
    let clock = ContinuousClock()
    let start = clock.now
    let run = try render(base + "lo.m3u8", ["--timeout", "2"])
    // Twice the time limit after the last sound, which is read at once.
    #expect((4..<12).contains((clock.now - start) / .seconds(1)))
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("has not changed in the 4 s since the last sound"))
  }
}
