// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct RedesignerTests {
  /// Stopping does not wait for a design in progress.
  @Test func stopDoesNotWaitForADesignInProgress() {
    var random = SeededGenerator.forTest()
    // The random rate ensures that no earlier run has cached this design.
    let rate = Double.random(in: 40_000...60_000, using: &random)
    let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
    let renderer = Renderer(
      layout: .stereo,
      filters: BinauralFilters(order: 1, sampleRate: rate, left: ear, right: ear), busOrder: 1)
    final class EventLog: Sendable { let events = Mutex<[PlayerEvent]>([]) }
    let log = EventLog()
    let redesigner = Redesigner(renderer: renderer, layout: .stereo) { event in
      log.events.withLock { $0.append(event) }
    }
    var settings = RenderSettings()
    settings.busOrder = 7
    redesigner.wish(settings, isTold: true, arrived: { _ in })
    usleep(30_000)
    let clock = ContinuousClock()
    let time = clock.measure { redesigner.stop() }
    print("stopped in \(time)")
    #expect(time < .milliseconds(600))
    let isDone = log.events.withLock { events in
      events.contains {
        switch $0 {
        case .decoderChanged, .decoderKept: true
        default: false
        }
      }
    }
    #expect(!isDone)
  }

  /// A request after `stop` starts no thread, even if there was none before.
  @Test func aRequestAfterStopIsIgnored() throws {
    let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
    let renderer = Renderer(
      layout: .stereo,
      filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear), busOrder: 1)
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
    let redesigners = (0..<200).map { _ in
      Redesigner(renderer: renderer, layout: .stereo) { _ in }
    }
    let before = try threads()
    for redesigner in redesigners {
      redesigner.stop()
      redesigner.wish(RenderSettings(), isTold: true, arrived: { _ in })
    }
    // Other tests start and end a few threads at the same time.
    #expect(try threads() < before + 100)
  }
}
