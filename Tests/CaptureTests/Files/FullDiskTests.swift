// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import TestSupport
import Testing

@testable import Capture

/// A recording that the disk cannot hold ends with an error, and its file plays.
struct FullDiskTests {
  private let rate = 48000
  private let probe = ProgramRun.builtProducts + "/recording-probe"

  /// Checks what the probe has printed, and the file.
  private func check(
    _ run: ProgramRun, path: String, isInteger: Bool, message: String
  ) throws {
    #expect(run.exitCode == 1)
    let lines = run.output.split(separator: "\n")
    let failure = try #require(lines.first { $0.hasPrefix("failed ") })
    #expect(failure.contains(message))
    let stored = try #require(lines.last.flatMap { Int($0.dropFirst("stored ".count)) })
    let appended = lines.compactMap { $0.hasPrefix("frames ") ? Int($0.dropFirst(7)) : nil }.max()
    let (_, signal) = try readTrack(path)
    let exact = equalFrames(signal, RecordedNoise(channels: 4, isInteger: isInteger))
    #expect(exact == stored && signal[0].count == stored)
    #expect(stored >= (appended ?? 0) - rate * 11 / 10)
    #expect(stored > 0)
  }

  /// The limit of a process on the size of its files.
  @Test(arguments: RoundTripTests.cases)
  func aLimitOnTheFileSizeEndsTheRecording(_ test: RoundTripTests.Case) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    for attempt in 0..<3 {
      let path = folder.file("\(attempt).\(test.container.suffix)")
      let limit = Int.random(in: 1_500_000...4_000_000, using: &random)
      let codec = test.codec == .pcm24 ? "pcm24" : "float"
      let run = try ProgramRun.of(
        probe, ["write", path, codec, "foa", "\(rate)", "20", "0", "\(limit)"])
      try check(
        run, path: path, isInteger: test.codec == .pcm24,
        message: "the size limit of the file system")
    }
  }

  /// A small file system, in a mount namespace of its own.
  @Test(.enabled(if: canMount, "file systems cannot be mounted"), arguments: RoundTripTests.cases)
  func aFullDiskEndsTheRecording(_ test: RoundTripTests.Case) throws {
    let folder = TemporaryFolder()
    let name = "a.\(test.container.suffix)"
    let codec = test.codec == .pcm24 ? "pcm24" : "float"
    mkdir(folder.file("disk"), 0o755)
    let script = """
      mount -t tmpfs -o size=3m none "$1/disk" || exit 9
      "$2" write "$1/disk/\(name)" \(codec) foa \(rate) 20 0
      code=$?
      cp "$1/disk/\(name)" "$1/\(name)"
      exit $code
      """
    let run = try ProgramRun.of(
      "unshare", ["-m", "sh", "-c", script, "sh", folder.path, probe])
    try check(
      run, path: folder.file(name), isInteger: test.codec == .pcm24,
      message: "no space is left on the disk")
  }

  /// A disk without room even for the first sound leaves no file, and the message does not mention
  /// sound in it.
  @Test(.enabled(if: canMount, "file systems cannot be mounted"), arguments: RoundTripTests.cases)
  func aDiskThatIsFullAtOnceLeavesNoFile(_ test: RoundTripTests.Case) throws {
    let folder = TemporaryFolder()
    let codec = test.codec == .pcm24 ? "pcm24" : "float"
    mkdir(folder.file("disk"), 0o755)
    for room in [0, 40] {
      let script = """
        mount -t tmpfs -o size=1m none "$1/disk" || exit 9
        head -c \((1024 - room) * 1024) /dev/zero > "$1/disk/filler"
        "$2" write "$1/disk/a.\(test.container.suffix)" \(codec) foa \(rate) 3 0
        code=$?
        ls "$1/disk"
        exit $code
        """
      let run = try ProgramRun.of(
        "unshare", ["-m", "sh", "-c", script, "sh", folder.path, probe])
      #expect(run.exitCode == 1)
      #expect(run.output.contains("no space is left"), "\(run.output)")
      #expect(!run.output.contains("can be played"), "\(run.output)")
      #expect(run.output.hasSuffix("filler\n"), "\(run.output)")
    }
  }

  /// A file that was deleted during the recording cannot be played.
  @Test(arguments: [false, true]) func aDeletedFileIsNotMentioned(isDeleted: Bool) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.wav")
    // 3 MB last for 4 s of four channels.
    let script = """
      "$1" write "$2" float foa \(rate) 20 1 3000000 &
      sleep 2
      \(isDeleted ? #"rm "$2""# : "")
      wait $!
      """
    let run = try ProgramRun.of("sh", ["-c", script, "sh", probe, path])
    #expect(run.output.contains("the size limit of the file system"), "\(run.output)")
    #expect(run.output.contains("can be played") == !isDeleted, "\(run.output)")
  }

  static let canMount: Bool = {
    let folder = TemporaryFolder()
    let run = try? ProgramRun.of(
      "unshare", ["-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", folder.path])
    return run?.exitCode == 0
  }()

  /// After the first error, every call throws it again, and the end still completes the file.
  @Test func anErrorStays() throws {
    final class Failing: RecordingBody {
      let segmentSeconds = 0.5
      var storedFrames: Int64 = 0
      var isWhole: Bool?

      func begin(_ output: RecordingOutput) throws(RecordingError) {}

      func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError) {
        guard storedFrames == 0 else { throw .diskFull(path: "", hasSound: true) }
        storedFrames = Int64(segment.frames)
      }

      func finish(
        _ output: RecordingOutput, tuning: String, isWhole: Bool
      ) throws(RecordingError) {
        self.isWhole = isWhole
        throw .writeFailed(path: "", reason: "")
      }
    }
    let folder = TemporaryFolder()
    let body = Failing()
    let file = try SegmentedRecording(
      format: RecordingFormat(layout: .mono, sampleRate: 8000), body: body,
      output: try RecordingOutput(path: folder.file("a.wav"), overwriting: false))
    let block = [Float](repeating: 0, count: 3000)
    try file.append(block)
    try file.append(block)
    for _ in 0..<3 {
      #expect(throws: RecordingError.diskFull(path: "", hasSound: true)) { try file.append(block) }
      #expect(throws: RecordingError.diskFull(path: "", hasSound: true)) { try file.flush() }
    }
    // `finish` does not throw, because the error is already known.
    try file.finish()
    #expect(body.isWhole == false)
    #expect(file.counts.storedFrames == 4000)
  }

  @Test func callsAfterTheEndDoNothing() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.wav")
    let file = try RecordingContainer.open(
      path: path, format: RecordingFormat(layout: .mono, sampleRate: 8000))
    try file.append([Float](repeating: 0.25, count: 8000))
    try file.finish()
    try file.finish()
    try file.append([0.5])
    #expect(try readTrack(path).1[0].count == 8000)
  }
}
