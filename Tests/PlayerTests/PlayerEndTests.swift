// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import PulseAudio
import SignalProcessing
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Behaviour near the end of a source.
@Suite(.serialized) struct PlayerEndTests {
  @Test func goingBackFromTheEndPlaysToTheEndAgain() throws {
    try PrivatePulseServer.withServer { server in
      let stage = try Stage(server, seconds: 0.6)
      defer { stage.stop() }
      #expect(stage.wait(milliseconds: 6000) { stage.conductor.isFinished })
      stage.conductor.wishes.withLock { $0.seek = 4800 }
      #expect(stage.wait(milliseconds: 1000) { !stage.conductor.isFinished })
      #expect(stage.wait(milliseconds: 6000) { stage.conductor.isFinished })
      #expect(stage.count { $0 == .finished } == 2)
    }
  }

  @Test func aServerThatDiesWithTheLastFramesPlaysThemWhenItReturns() throws {
    try PrivatePulseServer.withServer { server in
      // The queue is deep: the source ends long before its sound has been played.
      let stage = try Stage(server, seconds: 1.5, latency: 1500)
      defer { stage.stop() }
      #expect(stage.wait(milliseconds: 8000) { stage.feed.isExhausted })
      usleep(200_000)
      server.kill()
      #expect(stage.wait(milliseconds: 2000) { stage.output.status.losses == 1 })
      #expect(!stage.conductor.isFinished)
      try server.restart()
      #expect(stage.wait(milliseconds: 8000) { stage.conductor.isFinished })
    }
  }

  @Test func aSourceThatCannotSeekPlaysOn() throws {
    try PrivatePulseServer.withServer { server in
      let stage = try Stage(server, seconds: 1.5, canSeek: false)
      defer { stage.stop() }
      #expect(stage.wait(milliseconds: 4000) { stage.feed.sourcePosition > 9600 })
      stage.conductor.wishes.withLock { $0.seek = 70_000 }
      #expect(
        stage.wait(milliseconds: 2000) {
          stage.count { if case .sourceFailed = $0 { true } else { false } } == 1
        })
      #expect(stage.feed.sourcePosition < 65_000)
      #expect(stage.wait(milliseconds: 6000) { stage.conductor.isFinished })
    }
  }
}

/// The parts of a player that produce sound, with the simplest filters.
private final class Stage: Sendable {
  let feed: RenderFeed
  let output: AudioOutput
  let conductor: Conductor
  private let events: EventLog

  private final class EventLog: Sendable {
    let all = Mutex<[PlayerEvent]>([])
  }

  init(
    _ server: PrivatePulseServer, seconds: Double, latency: Double = 50, canSeek: Bool = true
  ) throws {
    let source = MadeSource(sampleRate: 48_000, seconds: seconds, canSeek: canSeek)
    feed = RenderFeed(
      ring: FrameRing(channelCount: 2, capacity: 96_000), renderer: plainRenderer(),
      head: HeadToStageSource(.none))
    var configuration = AudioOutputConfiguration()
    configuration.serverAddress = server.address
    configuration.sampleRate = 48_000
    configuration.latencyMilliseconds = latency
    output = try AudioOutput(configuration, render: feed.callback)
    let log = EventLog()
    events = log
    conductor = Conductor(source: source, feed: feed, output: output) { event in
      log.all.withLock { $0.append(event) }
    }
    conductor.start()
    try output.start()
  }

  func stop() {
    conductor.stop()
    output.stop()
  }

  func count(_ isWanted: (PlayerEvent) -> Bool) -> Int {
    events.all.withLock { $0.count(where: isWanted) }
  }

  /// Waits until a condition holds; returns false after `limit` milliseconds.
  func wait(milliseconds limit: Int, until isSo: () -> Bool) -> Bool {
    for _ in 0..<limit {
      if isSo() { return true }
      usleep(1000)
    }
    return isSo()
  }
}

/// Returns a renderer for plain stereo at order 1, with the limiter for headphones.
func plainRenderer() -> Renderer {
  let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
  return Renderer(
    layout: .stereo, filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear),
    busOrder: 1, mode: .plain, finish: .safe)
}
