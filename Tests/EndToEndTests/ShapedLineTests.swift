// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// A presentation from a server whose line becomes slow, recovers and fails for a time.
  @Suite(.serialized) struct ShapedLineTests {
    /// A stereo rendition at 128 kbit/s and 5.1 at 192 kbit/s, 30 s of steady tones.
    private func presentation() throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      let tones = [500, 700, 900, 50, 1100, 1300].map { "0.1*sin(2*PI*\($0)*t)" }
      let source = "aevalsrc=\(tones.joined(separator: "|")):c=5.1:s=48000:d=30"
      for (name, codec, rate, filter) in [
        ("six", "eac3", "192k", "anull"), ("two", "aac", "128k", "pan=stereo|c0=c0+c2|c1=c1+c2"),
      ] {
        mkdir(folder.file(name), 0o700)
        let run = try ProgramRun.of(
          "ffmpeg",
          [
            "-v", "error", "-f", "lavfi", "-i", source, "-af", filter, "-c:a", codec, "-b:a", rate,
            "-f", "hls", "-hls_time", "1.92", "-hls_list_size", "0", "-hls_playlist_type", "vod",
            "-hls_segment_filename", folder.file("\(name)/s%02d.ts"), folder.file("\(name)/p.m3u8"),
          ], timeoutSeconds: 60)
        try #require(run.exitCode == 0, "\(run.errors)")
      }
      try folder.write(
        """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="a",CHANNELS="6",URI="six/p.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="t",NAME="a",CHANNELS="2",URI="two/p.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=220000,CODECS="ec-3",AUDIO="s"
        six/p.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.2",AUDIO="t"
        two/p.m3u8
        """, to: "master.m3u8")
      return folder
    }

    @Test func everyInterruptionHasAnEvent() throws {
      // Stereo, multichannel, an interruption, and the end.
      let trace = ["3:170", "12:360", "14:3", "1:1000"]
      let folder = try presentation()
      let script = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
      let web = try RunningProgram(
        ["/usr/bin/python3", "\(script)/Fixtures/shaped_line.py", folder.path] + trace)
      let port = try web.line(with: "port ").text.dropFirst(5)
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          path: "http://127.0.0.1:\(port)/master.m3u8", on: server.address, ["--tracker", "none"])
        #expect(performance.program.wait(seconds: 90) == 0)
        let recording = recorder.finish()
        let silences = Self.silences(in: recording)
        let events = performance.events
        let reported = events.filter { ["buffering", "underrun"].contains($0.event) }
        let changes = events.count { $0.event == "rendition" }
        print(
          "line \(trace): silences \(silences) ms, \(reported.count) events, \(changes) changes")
        #expect(changes >= 2)
        #expect(events.contains { $0.event == "buffering" })
        #expect(reported.count >= silences.count, "\(silences) ms")
        let heard = Double(recording.frames) / Recording.sampleRate
        #expect(heard > 29)
      }
    }

    /// Returns the lengths of the silent runs of more than 2 ms between the first and the last
    /// sound [ms].
    private static func silences(in recording: Recording) -> [Double] {
      let sounds = recording.ears[0].indices.filter {
        abs(recording.ears[0][$0]) > 1e-5 || abs(recording.ears[1][$0]) > 1e-5
      }
      return zip(sounds, sounds.dropFirst()).map { $1 - $0 }.filter { $0 > 96 }.map {
        Double($0) / 48
      }
    }
  }
}
