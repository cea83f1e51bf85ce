// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Rendering again for a head that has not moved changes nothing, whatever happens to the sound.
@Suite struct UnchangedTests {
  enum Event: CaseIterable {
    case nothing
    case volume
    case hold
    case seek
    case exchange
    case plain
    case end
    case serverLost
  }

  @Test(arguments: Event.allCases, [false, true])
  func rewritingForAStillHeadChangesNothing(during event: Event, isLoud: Bool) {
    let layout = surround51
    let sound = noise(channels: 6, frames: 120_000, amplitude: isLoud ? 1 : 0.05)
    let (filters, other) = (noiseFilters(order: 3), noiseFilters(order: 3, taps: 200))
    var heard: [[[Float]]] = []
    var rewrites = 0
    for onlyAppends in [true, false] {
      var policy = RewritePolicy()
      policy.band = -1
      policy.keptBand = -1
      let server = QueueServer(
        sound, layout: layout, filters: filters, busOrder: 3, policy: policy)
      server.onlyAppends = onlyAppends
      server.checksPeriodically = true
      server.blocks = [480, 17, 700, 64]
      server.margins = [240, 2_000, 4_123, 777, 5_000]
      server.windows = [1_920, 700, 3_000]
      let pose = YawPitchRoll(pitch: 30, roll: -20).quaternion
      server.head.push(HeadSample(time: server.time(0), headToWorld: pose))
      var tracker = SimulatedTracker { _ in pose }
      server.play(96_000) { server in
        Self.trigger(event, at: server.now, on: server, other)
        return tracker.push(to: server)
      }
      heard.append(server.heard)
      rewrites = server.rewrites
    }
    #expect(rewrites > 150)
    #expect(residualDecibels(heard[1], heard[0]) < -115)
  }

  private static func trigger(
    _ event: Event, at frame: Int, on server: QueueServer, _ other: BinauralFilters
  ) {
    let eventFrames = [24_000, 38_400, 52_800, 67_200]
    guard let eventNumber = eventFrames.firstIndex(of: frame) else { return }
    let isFirstOfPair = eventNumber % 2 == 0
    switch event {
    case .nothing: break
    case .volume: server.feed.volume = isFirstOfPair ? 0.2 : 1
    case .hold: server.feed.hold(isFirstOfPair)
    case .seek: server.seek(to: isFirstOfPair ? 0 : 50_000)
    case .exchange:
      if eventNumber == 0 { server.renderer.exchange(filters: other, busOrder: 3) }
    case .plain: server.renderer.mode = isFirstOfPair ? .plain : .spatial
    case .end: if eventNumber == 1 { server.seek(to: 100_000) }
    case .serverLost: server.feed.beginFromSilence()
    }
  }
}
