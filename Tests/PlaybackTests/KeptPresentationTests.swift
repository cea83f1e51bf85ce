// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS
import TestSupport
import Testing

@testable import Playback
@testable import SignalProcessing

/// Presentations on a loopback server that are kept while they are read.
@Suite struct KeptPresentationTests {
  private let folder = TemporaryFolder()
  private let kept = TemporaryFolder()

  /// Writes eight seconds as 5.1 and stereo, in five segments each.
  private func write() throws {
    for (name, layout, channels) in [("hi", "5.1", 6), ("lo", "stereo", 2)] {
      let tones = (0..<channels).map { "0.1*sin(2*PI*\(500 + 200 * $0)*t)" }
      let run = try ProgramRun.of(
        "ffmpeg",
        [
          "-v", "error", "-f", "lavfi", "-i",
          "aevalsrc=\(tones.joined(separator: "|")):c=\(layout):d=8:s=48000", "-c:a",
          channels == 6 ? "eac3" : "aac", "-b:a", channels == 6 ? "192k" : "96k", "-f", "hls",
          "-hls_time", "1.92", "-hls_list_size", "0", "-hls_segment_filename",
          folder.file("\(name)%d.ts"), folder.file("\(name).m3u8"),
        ], timeoutSeconds: 60)
      try #require(run.exitCode == 0, "\(run.errors)")
    }
    try folder.write(
      """
      #EXTM3U
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="a",CHANNELS="6",URI="hi.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="t",NAME="a",CHANNELS="2",URI="lo.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="ec-3",AUDIO="s"
      hi.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2",AUDIO="t"
      lo.m3u8
      """, to: "m.m3u8")
  }

  /// The first segment comes in stereo, because the bandwidth is not known yet.
  @Test func oneRenditionOfTheKeptFolderIsComplete() throws {
    try write()
    let script =
      #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
      + "/Fixtures/http_server.py"
    let server = try RunningProgram(["python3", script, folder.path])
    let port = try server.line(with: "", seconds: 20).text
    var options = SoundOpener.Options()
    options.keepFolder = kept.file("kept")
    let opener = try SoundOpener("http://127.0.0.1:\(port)/in/m.m3u8", options: options)
    let source = try opener.open(sampleRate: 48000)
    let prepared = try prepared(source, settings: RenderSettings())
    let scratch = PlanarScratch(channels: prepared.layout.channelCount, frames: 4096)
    while try prepared.read(into: scratch.planes, frames: 4096) > 0 {}
    source.stream?.abandon()
    var fetched: [Int] = []
    #expect(opener.finishKeeping(begins: { fetched.append($0) }) == nil)
    #expect(fetched.count <= 1 && fetched.allSatisfy { (1...4).contains($0) })
    // The playlists list only renditions without gaps.
    let master = kept.file("kept/master.m3u8")
    let text = try ProgramRun.of("sh", ["-c", "cat '\(kept.file("kept"))'/*/*.m3u8 \(master)"])
    #expect(text.output.contains("hi") == false && text.output.contains("EXT-X-STREAM-INF"))
    let probe = try ProgramRun.of(
      "ffmpeg", ["-v", "error", "-i", master, "-f", "f32le", "-ac", "1", kept.file("out.raw")])
    #expect(probe.exitCode == 0 && probe.errors.isEmpty, "\(probe.errors)")
    var status = stat()
    try #require(stat(kept.file("out.raw"), &status) == 0)
    #expect(abs(Double(status.st_size) / 4 / 48000 - 8) < 0.1)
    let again = try SoundOpener(kept.file("kept")).open(sampleRate: 48000)
    #expect(again.duration.map { abs($0 - 384_000) < 4096 } == true)
  }
}
