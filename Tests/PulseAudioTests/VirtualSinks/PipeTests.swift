// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import PulseAudio

@Suite struct PipePlanTests {
  @Test(arguments: [2, 6, 8, 12], [20, 30, 40, 60, 100, 200])
  func planFitsThePipeAndItsLimits(channelCount: Int, milliseconds: Int) {
    let delay = milliseconds * 48
    let plan = PipePlan(channelCount: channelCount, sampleRate: 48_000, delay: delay)
    let page = 4096 / (4 * channelCount)
    #expect(plan.kept + plan.fresh <= plan.pageCount * page)
    #expect(plan.kept >= 0)
    #expect((25 * 48...39 * 48).contains(plan.fresh))
    #expect(plan.bytes <= 1 << 20)
  }

  @Test(arguments: [2, 6, 8, 12])
  func reportedLatencyIsCloseForUsualDelays(channelCount: Int) {
    for delay in stride(from: 30 * 48, through: 60 * 48, by: 48) {
      let plan = PipePlan(channelCount: channelCount, sampleRate: 48_000, delay: delay)
      #expect(abs(plan.kept - delay) <= 22 * 48)
    }
  }

  @Test func fixedCapacityIsKept() {
    let plan = PipePlan(channelCount: 8, sampleRate: 48_000, delay: 9600, pageCount: 16)
    #expect(plan.pageCount == 16)
    #expect(plan.fresh == 25 * 48)
  }
}

@Suite struct SinkPipeTests {
  /// The reader sees each frame once and in order, while `kept` frames stay in the FIFO.
  @Test func keptFramesAreCountedButNotReadTwice() throws {
    let folder = TemporaryFolder()
    let pipe = try SinkPipe(path: folder.file("fifo"), channelCount: 2)
    let plan = PipePlan(channelCount: 2, sampleRate: 48_000, delay: 30 * 48)
    pipe.apply(plan)
    let server = try #require(Writer(folder.file("fifo")))
    var heard: [Float] = []
    var samples = [Float](repeating: 0, count: 1000)
    var seed: UInt32 = 1
    for round in 0..<2000 {
      server.fill()
      seed = seed &* 1_664_525 &+ 1_013_904_223
      let wanted = 1 + Int(seed >> 24)
      let count = pipe.read(&samples, frameCount: wanted)
      #expect(count == wanted)
      heard += samples[..<(2 * count)]
      if round > 100 { #expect(server.fillLevel - pipe.unread == plan.kept) }
    }
    #expect(heard.indices.allSatisfy { heard[$0] == Float($0) })
  }

  @Test func trimmingDropsOldSound() throws {
    let folder = TemporaryFolder()
    let pipe = try SinkPipe(path: folder.file("fifo"), channelCount: 2)
    let plan = PipePlan(channelCount: 2, sampleRate: 48_000, delay: 30 * 48)
    pipe.apply(plan)
    let server = try #require(Writer(folder.file("fifo")))
    server.fill()
    pipe.trim()
    #expect(pipe.unread == 0)
    let next = server.next
    server.fill()
    var samples = [Float](repeating: 0, count: 20)
    #expect(pipe.read(&samples, frameCount: 10) == 10)
    #expect(samples == (0..<20).map { Float(next + $0) })
  }

  @Test func missingFramesAreNotInvented() throws {
    let folder = TemporaryFolder()
    let pipe = try SinkPipe(path: folder.file("fifo"), channelCount: 2)
    var samples = [Float](repeating: 0, count: 20)
    #expect(pipe.read(&samples, frameCount: 10) == 0)
    let server = try #require(Writer(folder.file("fifo")))
    server.write(frames: 4)
    #expect(pipe.read(&samples, frameCount: 10) == 4)
    #expect(pipe.read(&samples, frameCount: 10) == 0)
  }

  @Test func folderAndFileBelongToTheUserAlone() throws {
    let parent = TemporaryFolder()
    mkdir(parent.file("stillstage"), 0o755)
    let folder = try SinkFolder(in: parent.path)
    let pipe = try SinkPipe(path: folder.fifo(of: "a"), channelCount: 2)
    var status = stat()
    #expect(stat(folder.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(stat(pipe.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func linkIsRefused() throws {
    let parent = TemporaryFolder()
    symlink("/tmp", parent.file("stillstage"))
    #expect(throws: (any Error).self) { try SinkFolder(in: parent.path) }
  }

  @Test func filesOfEndedProcessesAreDeleted() throws {
    let parent = TemporaryFolder()
    let folder = try SinkFolder(in: parent.path)
    let pipe = try SinkPipe(path: folder.fifo(of: "stillstage-5.1"), channelCount: 2)
    mkfifo(folder.path + "/stillstage-7.1.999999-12.fifo", 0o600)
    folder.deleteOrphans()
    #expect(access(pipe.path, F_OK) == 0)
    #expect(access(folder.path + "/stillstage-7.1.999999-12.fifo", F_OK) != 0)
  }

  @Test func ownerIsReadFromTheModule() {
    #expect(SinkOwner.current.isAlive)
    #expect(!SinkOwner(text: "\(getpid())-1").isAlive)
    let module = ServerModule(
      index: 1, name: "module-pipe-sink",
      argument: "sink_name=stillstage-5.1 file='/run/a' "
        + "sink_properties='device.description=\"Stillstage 5.1\" stillstage.owner=\"12-34\"'")
    #expect(module.virtualSink?.name == "stillstage-5.1")
    #expect(module.virtualSink?.owner == SinkOwner(text: "12-34"))
  }
}

/// Writes numbered stereo frames to a FIFO as the server does: one page at a time.
private final class Writer {
  private let descriptor: Int32
  private(set) var next = 0

  init?(_ path: String) {
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// The number of frames in the FIFO.
  var fillLevel: Int {
    var bytes: Int32 = 0
    _ = ioctl(descriptor, UInt(0x541B), &bytes)
    return Int(bytes) / 8
  }

  func fill() { while write(frames: 512) {} }

  @discardableResult
  func write(frames: Int) -> Bool {
    let page = (0..<2 * frames).map { Float(next + $0) }
    guard Glibc.write(descriptor, page, 8 * frames) == 8 * frames else { return false }
    next += 2 * frames
    return true
  }
}
