// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import HeadTracking
import Playback
import Rendering
import SoundServer
import Synchronization
import System

/// The engine of `stillstage sink`. Another program, pacat, plays the noise to a virtual sink.
final class SinkChain: LatencyChain {
  /// The layout of the virtual sink. The noise is in the front centre channel.
  static let layout = SinkLayout.surround71

  let sampleRate = 48_000
  let poses: HeadPoseSource
  private let parts: SystemWideParts
  private let sink: any VirtualSink
  private let program: Mutex<ChildProcess?> = Mutex(nil)
  private let words: [String]
  private let feeder = Worker()

  init(
    _ options: PlayerOptions, on server: LatencyServer, head: HeadPoseSource
  ) throws(CommandFailure) {
    // On PulseAudio, this process creates the virtual sink's FIFO in XDG_RUNTIME_DIR. Use the
    // folder of the private server.
    if let path = server.address?.dropFirst("unix:".count), let end = path.lastIndex(of: "/") {
      setenv("XDG_RUNTIME_DIR", String(path[..<end]), 1)
    }
    let made = try playing { () throws(PlaybackError) in
      try SystemWideParts(
        layouts: [Self.layout], options: options, isLimited: true, keeper: nil,
        describe: { _ in nil }, atEnd: { _ in })
    }
    parts = made
    // The renderer reads its poses from a branch of the head's pose source.
    poses = (made.stage as? SinkStage)?.poses(of: Self.layout) ?? head
    do throws(SoundServerError) {
      let sinks = try SinkList.read(output: options.output, serverAddress: options.serverAddress)
      guard let real = sinks.first(where: { $0.name == server.sink ?? "" || server.sink == nil })
      else { throw .noSink(address: server.address ?? "the user's server") }
      sink = try made.makeSink(Self.layout, real)
    } catch { throw CommandFailure(error.message) }
    words =
      [
        "pacat", "--playback", "--raw", "--format=float32le", "--rate=\(sampleRate)",
        "--channels=8", "--latency-msec=50", "--device=\(Self.layout.sinkName)",
        "--channel-map=front-left,front-right,front-center,lfe,rear-left,rear-right,side-left,"
          + "side-right",
      ] + (server.address.map { ["--server=\($0)"] } ?? [])
  }

  var output: AudioOutputStatus { sink.status }

  func start() throws(CommandFailure) {
    do throws(SoundServerError) { try sink.start() } catch {
      throw CommandFailure(error.message)
    }
    sink.setInUse(true)
    do throws(SystemError) {
      let pipe = try SystemPipe()
      var launch = ProgramLaunch(words)
      launch.input = .descriptor(pipe.reader)
      launch.closesDescriptors = true
      let child = try launch.start()
      pipe.closeReader()
      program.withLock { $0 = child }
      signal(SIGPIPE, SIG_IGN)
      feeder.start { [feeder] in Self.feed(pipe, until: { feeder.isStopped }) }
    } catch {
      throw CommandFailure(
        "cannot start pacat: \(error); check that pulseaudio-utils is installed")
    }
  }

  /// Writes the noise to the pipe until `isOver` returns true or a write fails. Then closes the
  /// writer.
  private static func feed(_ pipe: SystemPipe, until isOver: () -> Bool) {
    defer { pipe.closeWriter() }
    let frames = 2048
    var samples = [Float](repeating: 0, count: 8 * frames)
    var position = 0
    while !isOver() {
      for i in 0..<frames { samples[8 * i + 2] = BenchNoise.sample(position + i) }
      position += frames
      var done = 0
      while done < 32 * frames {
        let count = samples.withUnsafeBytes {
          write(pipe.writer, $0.baseAddress! + done, $0.count - done)
        }
        guard count > 0 else { return }
        done += count
      }
    }
  }

  func stop() {
    program.withLock { program in
      program?.destroy()
      program = nil
    }
    feeder.stop()
    sink.stop()
    parts.stage.stop()
  }
}
