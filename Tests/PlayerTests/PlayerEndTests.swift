// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import PulseAudio
import SignalProcessing
import SoundServer
import Synchronization
import System
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Behaviour at the start and near the end of a source.
@Suite(.serialized) struct PlayerEndTests {
  /// The queue would otherwise begin with silence, and the first sound would wait behind it.
  @Test func outputWaitsForTheFirstSound() throws {
    try PrivatePulseServer.withServer { server in
      let gate = Gate()
      let chain = try SoundChain(
        server, seconds: 1, latency: 200, startsPaused: true, wait: gate.wait)
      defer { chain.stop() }
      usleep(300_000)
      #expect(chain.output.status.state == .paused)
      #expect(chain.output.status.framesWritten == 0)
      gate.open()
      #expect(chain.wait(milliseconds: 2000) { chain.output.status.framesWritten > 0 })
      #expect(chain.output.status.state == .playing)
      // Every frame that was written is sound.
      let (written, heard) = (chain.output.status.framesWritten, chain.feed.sourcePosition)
      #expect(abs(Int(written) - heard) < 4800, "\(written) frames written, \(heard) of the source")
      #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished })
      #expect(chain.output.status.underruns == 0)
    }
  }

  @Test func outputBeginsWithASourceThatIsShorterThanTheQueue() throws {
    try PrivatePulseServer.withServer { server in
      let chain = try SoundChain(server, seconds: 0.05, startsPaused: true)
      defer { chain.stop() }
      #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished })
    }
  }

  /// The request to resume may arrive while the stream is being opened.
  @Test func outputThatIsResumedWhileItOpensPlays() throws {
    try PrivatePulseServer.withServer { server in
      for delay in stride(from: 0, to: 20_000, by: 2000) {
        let gate = Gate()
        let chain = try SoundChain(
          server, seconds: 0.3, startsPaused: true, wait: gate.wait,
          beforeStart: {
            DetachedThread.run {
              usleep(UInt32(delay))
              gate.open()
            }
          })
        defer { chain.stop() }
        #expect(chain.wait(milliseconds: 6000) { chain.conductor.isFinished }, "\(delay)")
      }
    }
  }

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
    _ server: PrivatePulseServer, seconds: Double, latency: Double = 50, canSeek: Bool = true,
    startsPaused: Bool = false, wait: @escaping @Sendable () -> Void = {},
    beforeStart: () -> Void = {}
  ) throws {
    let source = MadeSource(
      sampleRate: 48_000, seconds: seconds, canSeek: canSeek, waitBeforeFirstRead: wait)
    feed = RenderFeed(
      ring: FrameRing(channelCount: 2, capacity: 96_000), renderer: plainRenderer(),
      head: HeadToStageSource(.none))
    var configuration = AudioOutputConfiguration()
    configuration.serverAddress = server.address
    configuration.sampleRate = 48_000
    configuration.latencyMilliseconds = latency
    configuration.startsPaused = startsPaused
    output = try PulseOutput(configuration, render: feed.callback)
    let log = EventLog()
    events = log
    conductor = Conductor(
      source: source, feed: feed, output: output, startsPaused: startsPaused
    ) { event in
      log.all.withLock { $0.append(event) }
    }
    beforeStart()
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

/// Lets a thread pass once it is open.
private final class Gate: Sendable {
  private let isOpen = Atomic(false)

  func open() { isOpen.store(true, ordering: .releasing) }

  @Sendable func wait() { _ = waitUntil(seconds: 10) { isOpen.load(ordering: .acquiring) } }
}

/// Returns a renderer for plain stereo at order 1, with the limiter for headphones.
func plainRenderer() -> Renderer {
  let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
  return Renderer(
    layout: .stereo, filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear),
    busOrder: 1, mode: .plain, finish: .safe)
}
