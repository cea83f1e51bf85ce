// SPDX-License-Identifier: Apache-2.0

import Binaural
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct LoudnessScanTests {
  /// A file on a network that hangs, or a thread that a busy computer hardly runs, must not delay
  /// the end of the program.
  @Test func scanThatHangsIsNotWaitedFor() throws {
    let rate = 48_000
    let hrtf = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: Double(rate)))
    var settings = RenderSettings()
    settings.busOrder = 1
    let filters = try hrtf.filters(for: .stereo, settings: settings, sampleRate: Double(rate))
    let hang = Mutex((hasBegun: false, isOver: false))
    let scan = LoudnessScan(filters: filters, settings: settings) { () throws(PlaybackError) in
      hang.withLock { $0.hasBegun = true }
      _ = waitUntil(seconds: 20) { hang.withLock { $0.isOver } }
      return MadeSource(sampleRate: rate, seconds: 1)
    }
    scan.start()
    #expect(waitUntil(seconds: 20) { hang.withLock { $0.hasBegun } })
    let begin = ContinuousClock.now
    scan.stop()
    #expect(ContinuousClock.now - begin < .seconds(5))
    hang.withLock { $0.isOver = true }
  }
}
