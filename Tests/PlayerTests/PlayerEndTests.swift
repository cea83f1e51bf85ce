// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import PulseAudio
import SignalProcessing
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Behaviour near the end of a source.
@Suite(.serialized) struct PlayerEndTests {
  @Test func seekingBackFromTheEndPlaysToTheEndAgain() throws {
    try PrivatePulseServer.withServer { server in
      let chain = try SoundChain(server, seconds: 0.6)
      defer { chain.stop() }
      #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished })
      chain.conductor.wishes.withLock { $0.seek = 4800 }
      #expect(chain.wait(milliseconds: 1000) { !chain.conductor.isFinished })
      #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished })
      #expect(chain.count { $0 == .finished } == 2)
    }
  }

  @Test func playbackFinishesOnlyAfterTheServerReturns() throws {
    try PrivatePulseServer.withServer { server in
      // The queue is deep: the source ends long before its sound has been played.
      let chain = try SoundChain(server, seconds: 1.5, latency: 1500)
      defer { chain.stop() }
      #expect(chain.wait(milliseconds: 8000) { chain.feed.isExhausted })
      usleep(200_000)
      server.kill()
      #expect(chain.wait(milliseconds: 2000) { chain.output.status.losses == 1 })
      #expect(!chain.conductor.isFinished)
      try server.restart()
      #expect(chain.wait(milliseconds: 8000) { chain.conductor.isFinished })
    }
  }

  @Test func failedSeekIsReportedAndPlaybackContinues() throws {
    try PrivatePulseServer.withServer { server in
      let chain = try SoundChain(server, seconds: 1.5, canSeek: false)
      defer { chain.stop() }
      #expect(chain.wait(milliseconds: 4000) { chain.feed.sourcePosition > 9600 })
      chain.conductor.wishes.withLock { $0.seek = 70_000 }
      #expect(
        chain.wait(milliseconds: 2000) {
          chain.count { if case .sourceFailed = $0 { true } else { false } } == 1
        })
      #expect(chain.feed.sourcePosition < 65_000)
      #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished })
    }
  }
}

/// The parts of a player that produce sound, with the simplest filters.
private final class SoundChain: Sendable {
  let feed: RenderFeed
  let output: any AudioOutput
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
    output = try PulseOutput(configuration, render: feed.callback)
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
  func wait(milliseconds limit: Int, until condition: () -> Bool) -> Bool {
    for _ in 0..<limit {
      if condition() { return true }
      usleep(1000)
    }
    return condition()
  }
}

/// Returns a renderer for plain stereo at order 1, with the limiter for headphones.
func plainRenderer() -> Renderer {
  let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
  return Renderer(
    layout: .stereo, filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear),
    busOrder: 1, mode: .plain, finish: .safe)
}
