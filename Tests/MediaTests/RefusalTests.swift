// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Media
import Testing

@Suite struct RefusalTests {
  @Test func refusalsAreOneLineWithTheReason() throws {
    let scratch = Scratch()
    let one = Planar(repeating: [0, 0], count: 1)
    scratch.write([], to: "empty.wav")
    scratch.write(Array("Dear diary,\nthis is no sound.\n".utf8), to: "text.wav")
    mkfifo(scratch / "fifo.wav", 0o600)
    var none = RawWAV(signal: one)
    none.statedChannels = 0
    scratch.write(none.bytes, to: "none.wav")
    scratch.write(
      RawWAV(signal: Planar(repeating: [0, 0], count: 300)).bytes, to: "300.wav")
    scratch.write(RawWAV(signal: one, rate: 4000).bytes, to: "slow.wav")
    scratch.write(RawWAV(signal: one, rate: 768_000).bytes, to: "fast.wav")
    scratch.write(Array("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n".utf8), to: "list.wav")
    scratch.write(Array("ffconcat version 1.0\nfile text.wav\n".utf8), to: "concat.wav")
    try scratch.ffmpeg([
      "-f", "lavfi", "-i", "color=size=16x16:rate=5:duration=1", "-c:v", "mpeg4", "@video.mp4",
    ])
    scratch.write(RawWAV(signal: noise(channels: 2, frames: 9000)).bytes, to: "in.wav")
    scratch.write(Array("ffconcat version 1.0\nfile in.wav\n".utf8), to: "join.wav")
    let session = """
      v=0
      o=- 0 0 IN IP4 127.0.0.1
      s=x
      c=IN IP4 127.0.0.1
      t=0 0
      m=audio 49170 RTP/AVP 0

      """
    scratch.write(Array(session.replacing("\n", with: "\r\n").utf8), to: "session.wav")
    try scratch.ffmpeg(["-i", "@in.wav", "-c:a", "aac", "@a.m4a"])
    scratch.write(Array(scratch.bytes(of: "a.m4a").prefix(2000)), to: "cut.m4a")
    let cases: [(name: String, text: String)] = [
      ("missing.wav", "no such file; check the path"),
      ("text.wav/x.wav", "no such file; check the path"),
      ("empty.wav", "is empty; choose a file with audio"),
      (".", "is a directory; choose a file in it"),
      ("fifo.wav", "is a FIFO; copy the audio to a regular file first"),
      ("text.wav", "not an audio file that FFmpeg recognises; check it with `ffprobe`"),
      ("cut.m4a", "the file is truncated and has no complete index; copy or download it again"),
      ("video.mp4", "contains video but no audio; choose a file with an audio track"),
      (
        "300.wav",
        "audio track 1 cannot be played: it has 300 channels; at most 66 can be played; "
          + "convert the track first"
      ),
      (
        "slow.wav",
        "audio track 1 cannot be played: its sample rate is 4000 Hz; 8000 to 384000 Hz can be "
          + "played; convert the track first"
      ),
      (
        "fast.wav",
        "audio track 1 cannot be played: its sample rate is 768000 Hz; 8000 to 384000 Hz can "
          + "be played; convert the track first"
      ),
    ]
    for (name, text) in cases {
      #expect(message(scratch / name) == scratch / name + ": " + text)
    }
    #expect(
      message("/dev/zero") == "/dev/zero: is a device; copy the audio to a regular file first")
    for name in [
      "none.wav", "list.wav", "concat.wav", "join.wav", "session.wav", "evil\n\u{1B}[2Jname.wav",
    ] {
      let text = message(scratch / name)
      #expect(!text.isEmpty && !text.unicodeScalars.contains { $0.value < 32 }, "\(name): \(text)")
    }
  }

  private func message(_ path: String) -> String {
    do {
      _ = try AudioFileReader(path: path)
      return ""
    } catch {
      return error.description
    }
  }

  /// Root may read every file, so the error cannot be provoked in every environment.
  @Test func permissionErrorHasItsOwnMessage() {
    #expect(
      MediaError.permissionDenied(path: "a.wav").description
        == "a.wav: permission denied; give this user access to the file and its folders")
  }

  @Test func layoutErrorsNameBothChannelCounts() throws {
    let cases: [(option: LayoutOption, channels: Int, text: String)] = [
      (.foa, 2, "the layout foa needs 4 or 6 channels, but the track has 2; choose another layout"),
      (
        .fuMa, 5,
        "the layout fuma needs 4, 9 or 16 channels, but the track has 5; choose another layout"
      ),
      (
        .hoa, 5,
        "the layout hoa needs 4, 6, 9, 11, 16, 18, 25, 27, 36, 38, 49, 51, 64 or 66 "
          + "channels, but the track has 5; choose another layout"
      ),
      (
        try LayoutOption("5.1"), 2,
        "the layout 5.1 needs 6 channels, but the track has 2; choose another layout"
      ),
      (.auto, 8, "the file does not identify its 8 channels; set the layout to 7.1 or 5.1.2"),
    ]
    for (option, channels, text) in cases {
      let error = #expect(throws: MediaError.self) {
        try option.resolve(.unknown(channels: channels))
      }
      #expect(error?.description == text)
    }
  }

  @Test func raisedFlagInterruptsReadingAndOpening() throws {
    let scratch = Scratch()
    let path = scratch.write(RawWAV(signal: noise(channels: 1, frames: 50000)).bytes, to: "a.wav")
    let flag = InterruptFlag()
    let reader = try AudioFileReader(path: path, interrupt: flag)
    _ = try read(reader, frames: 10)
    flag.raise()
    #expect(throws: MediaError.interrupted) { try readAll(reader) }
    #expect(throws: MediaError.interrupted) { try AudioFileReader(path: path, interrupt: flag) }
  }

  @Test func smallFilesOpenWithin50Milliseconds() throws {
    let scratch = Scratch()
    let path = scratch.write(RawWAV(signal: noise(channels: 4, frames: 48000)).bytes, to: "a.wav")
    _ = try AudioFileReader(path: path)
    let clock = ContinuousClock()
    let times = try (0..<10).map { _ in
      try clock.measure { _ = try AudioFileReader(path: path) }
    }
    #expect(try #require(times.min()) < .milliseconds(50), "\(times)")
  }
}
