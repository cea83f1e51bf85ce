// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Media
import Testing

@Suite struct WAVWriterTests {
  @Test func writtenFilesReadBackBitExactly() throws {
    let scratch = Scratch()
    let layouts: [ChannelLayout] = [
      .mono, .stereo, .ambisonics(order: 1, convention: .ambiX, headLocked: false),
      .ambisonics(order: 7, convention: .ambiX, headLocked: true),
      .speakers([
        .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
      ]),
    ]
    for layout in layouts {
      let signal = noise(channels: layout.channelCount, frames: 6001, peak: 2)
      let writer = try WAVWriter(path: scratch / "o.wav", layout: layout, sampleRate: 44100)
      try write(signal, with: writer)
      #expect(scratch.names.allSatisfy { $0.hasPrefix(".o.wav") })
      try writer.close()
      #expect(scratch.names == ["o.wav"])
      let reader = try AudioFileReader(path: scratch / "o.wav")
      #expect(reader.sampleRate == 44100 && reader.duration == 6001)
      #expect(try readAll(reader) == signal)
      #expect(try LayoutOption.auto.resolve(track: reader.track) == layout)
      let format = scratch.bytes(of: "o.wav")[56...57]
      #expect(format == (layout.channelCount > 2 ? [0xFE, 0xFF] : [3, 0]))
      unlink(scratch / "o.wav")
    }
  }

  @Test func unfinishedFileHasAValidHeader() throws {
    let scratch = Scratch()
    let writer = try WAVWriter(path: scratch / "o.wav", layout: .mono, sampleRate: 8000)
    try write(noise(channels: 1, frames: 20000), with: writer)
    let temporary = try #require(scratch.names.first)
    let reader = try AudioFileReader(path: scratch / temporary)
    #expect(try readAll(reader)[0].count == 20000)
    #expect(reader.warnings.isEmpty)
    writer.abort()
    #expect(scratch.names.isEmpty)
  }

  @Test func abandonedWriterKeepsTheOldFile() throws {
    let scratch = Scratch()
    scratch.write([1, 2, 3], to: "o.wav")
    do {
      let writer = try WAVWriter(path: scratch / "o.wav", layout: .mono, sampleRate: 8000)
      try write([[1]], with: writer)
    }
    #expect(scratch.names == ["o.wav"] && scratch.bytes(of: "o.wav") == [1, 2, 3])
  }

  @Test func symbolicLinksArePreserved() throws {
    let scratch = Scratch()
    scratch.write([1], to: "real.wav")
    symlink("real.wav", scratch / "link.wav")
    let writer = try WAVWriter(path: scratch / "link.wav", layout: .mono, sampleRate: 8000)
    try writer.close()
    #expect(scratch.bytes(of: "real.wav").count > 60)
    var status = stat()
    lstat(scratch / "link.wav", &status)
    #expect(status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func fullDiskGivesAOneLineError() throws {
    let writer = try? WAVWriter(path: "/dev/full", layout: .mono, sampleRate: 8000)
    #expect(writer == nil)
    let error = #expect(throws: MediaError.self) {
      try WAVWriter(path: "/dev/full", layout: .mono, sampleRate: 8000)
    }
    #expect(
      error?.description
        == "/dev/full: cannot be written (no space left on device); "
        + "choose another folder or free some space")
  }

  @Test func invalidOutputsAreRefused() throws {
    let scratch = Scratch()
    let cases: [(path: String, text: String)] = [
      (scratch.path, "is a directory; choose a file in it"),
      (
        scratch / "none/o.wav",
        "cannot be written (no such file or directory); choose another folder or free some space"
      ),
    ]
    for (path, text) in cases {
      let error = #expect(throws: MediaError.self) {
        try WAVWriter(path: path, layout: .mono, sampleRate: 8000)
      }
      #expect(error?.description == path + ": " + text)
    }
    for (channels, rate) in [(0, 48000), (1025, 48000), (2, 0)] {
      #expect(throws: MediaError.writerFormat(channels: channels, sampleRate: rate)) {
        try WAVWriter(
          path: scratch / "o.wav", layout: .unknown(channels: channels), sampleRate: rate)
      }
    }
    #expect(scratch.names.isEmpty)
  }

  /// Programs that know no RF64 can read the sound from a FIFO, too.
  @Test(arguments: [ChannelLayout.mono, .stereo, .unknown(channels: 8)]) func aFIFOReceivesRIFF(
    _ layout: ChannelLayout
  ) throws {
    let scratch = Scratch()
    let path = scratch / "fifo.wav"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let writer = try WAVWriter(path: path, layout: layout, sampleRate: 48000)
    defer { writer.abort() }
    var bytes = [UInt8](repeating: 0, count: 12)
    #expect(read(reader, &bytes, 12) == 12)
    #expect(Array(bytes[..<4]) == Array("RIFF".utf8))
    let length = bytes[4..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    #expect(length > 4_200_000_000 && length < UInt64(UInt32.max))
  }

  @Test func devicesAreWrittenInPlace() throws {
    let writer = try WAVWriter(path: "/dev/null", layout: .stereo, sampleRate: 48000)
    try write(noise(channels: 2, frames: 100), with: writer)
    try writer.close()
    var status = stat()
    stat("/dev/null", &status)
    #expect(status.st_mode & S_IFMT == S_IFCHR)
  }
}
