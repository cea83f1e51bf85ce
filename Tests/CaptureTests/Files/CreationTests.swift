// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Glibc
import TestSupport
import Testing

/// How the file of a recording comes into being.
struct CreationTests {
  private let format = RecordingFormat(layout: .mono, sampleRate: 8000)

  private func open(
    _ path: String, overwriting: Bool = false
  ) throws(RecordingError) -> any RecordingFile {
    try RecordingContainer.open(path: path, format: format, overwriting: overwriting)
  }

  private func silence(seconds: Int) -> [Float] { [Float](repeating: 0, count: seconds * 8000) }

  @Test(arguments: RecordingContainer.allCases)
  func theFileHasItsNameAtOnce(_ container: RecordingContainer) throws {
    let folder = TemporaryFolder()
    let file = try open(folder.file("a.\(container.suffix)"))
    #expect(folder.names == ["a.\(container.suffix)"])
    withExtendedLifetime(file) {}
  }

  @Test func anExistingFileIsRefused() throws {
    let folder = TemporaryFolder()
    let path = try folder.write("old", to: "a.wav")
    #expect(throws: RecordingError.exists(path: path)) { try open(path) }
    #expect(try readFile(path) == Array("old".utf8))
    #expect(folder.names == ["a.wav"])
  }

  @Test(arguments: RecordingContainer.allCases)
  func anOverwrittenFileStaysUntilThereIsSound(_ container: RecordingContainer) throws {
    let folder = TemporaryFolder()
    let name = "a.\(container.suffix)"
    let path = try folder.write("old", to: name, mode: 0o600)
    let file = try open(path, overwriting: true)
    let aside = try #require(folder.names.first { $0.hasSuffix(".old") })
    #expect(folder.names == [name, aside] && aside.hasPrefix(name))
    #expect(try readFile(folder.file(aside)) == Array("old".utf8))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    try file.append(silence(seconds: 2))
    #expect(folder.names == [name])
    try file.finish()
    #expect(try readTrack(path).1[0].count == 16000)
  }

  @Test(arguments: [false, true])
  func anOverwrittenFileReturnsIfThereIsNoSound(_ isFinished: Bool) throws {
    let folder = TemporaryFolder()
    let path = try folder.write("old", to: "a.mov")
    do {
      let file = try open(path, overwriting: true)
      if isFinished { try file.finish() }
    }
    #expect(try readFile(path) == Array("old".utf8))
    #expect(folder.names == ["a.mov"])
  }

  @Test func theTargetOfALinkIsOverwritten() throws {
    let folder = TemporaryFolder()
    let target = try folder.write("old", to: "target")
    symlink(target, folder.file("a.wav"))
    let file = try open(folder.file("a.wav"), overwriting: true)
    try file.append(silence(seconds: 1))
    try file.finish()
    #expect(folder.names == ["a.wav", "target"])
    #expect(try readTrack(target).1[0].count == 8000)
  }

  @Test func whatCannotHoldARecordingIsRefused() throws {
    let folder = TemporaryFolder()
    mkdir(folder.file("d.wav"), 0o755)
    mkfifo(folder.file("f.wav"), 0o644)
    symlink(folder.file("nowhere"), folder.file("l.wav"))
    for overwriting in [false, true] {
      let directory = folder.file("d.wav")
      #expect(throws: RecordingError.isDirectory(path: directory)) {
        try open(directory, overwriting: overwriting)
      }
      for name in ["f.wav", "l.wav"] {
        let path = folder.file(name)
        #expect(throws: RecordingError.notRegularFile(path: path)) {
          try open(path, overwriting: overwriting)
        }
      }
    }
    #expect(throws: RecordingError.unknownContainer(path: "a.ogg")) { try open("a.ogg") }
    #expect {
      try open(folder.file("missing/a.wav"))
    } throws: {
      if case RecordingError.cannotCreate = $0 { true } else { false }
    }
    #expect(folder.names == ["d.wav", "f.wav", "l.wav"])
  }

  @Test func formatsThatAContainerLacksAreRefused() throws {
    let folder = TemporaryFolder()
    let cases: [(String, RecordingFormat)] = [
      ("a.flac", RecordingFormat(layout: .mono, sampleRate: 48000, codec: .float)),
      ("a.flac", RecordingFormat(layout: .unknown(channels: 9), sampleRate: 48000)),
      ("a.wav", RecordingFormat(layout: .unknown(channels: 0), sampleRate: 48000)),
      ("a.wav", RecordingFormat(layout: .unknown(channels: 67), sampleRate: 48000)),
      ("a.mka", RecordingFormat(layout: .mono, sampleRate: 4000)),
    ]
    for (name, format) in cases {
      #expect {
        try RecordingContainer.open(path: folder.file(name), format: format)
      } throws: { error in
        guard case RecordingError.unsupported = error else { return false }
        let text = "\(error)"
        return !text.contains("\n") && !text.contains("--")
      }
    }
    #expect(folder.names.isEmpty)
  }

  @Test func freeSpaceGivesTheTimeLeft() throws {
    let folder = TemporaryFolder()
    let file = try open(folder.file("a.wav"))
    #expect(file.bytesPerSecond == 24000)
    let free = try #require(file.freeBytes)
    #expect(free > 0)
    let seconds = try #require(file.secondsLeft)
    #expect(abs(seconds * 24000 / Double(free) - 1) < 0.1)
    try file.append(silence(seconds: 10))
    #expect(abs(file.bytesPerSecond - 24000) < 20)
  }

  /// Otherwise, silence at the start would make the disk seem larger than it is.
  @Test func theRateFollowsSoundThatCompressesLess() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let file = try open(folder.file("a.flac"))
    try file.append(silence(seconds: 100))
    #expect(file.bytesPerSecond < 1000)
    try file.append((0..<160_000).map { _ in Float.random(in: -1..<1, using: &random) })
    #expect(file.bytesPerSecond > 20_000)
    #expect(file.bytesPerSecond < 26_000)
  }
}
