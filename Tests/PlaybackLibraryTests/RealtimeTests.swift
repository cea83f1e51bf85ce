// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import Playback
import TestSupport
import Testing

/// Calls for the audio thread must not allocate or lock. In a release build they must not retain
/// either; a debug build retains what it calls.
@Suite struct RealtimeTests {
  @Test func processNeitherAllocatesNorLocks() {
    let layout = ChannelLayout.speakers([.frontLeft, .frontRight, .lowFrequency])
    var settings = RenderSettings()
    settings.busOrder = 2
    let renderer = SampleRenderer(
      layout: layout, filters: .madeUp(order: 2), settings: settings, finish: .safe)
    let input = PlanarSignal(channelCount: 3, frames: 700) { Float($0 + $1 % 7) * 0.05 }
    let output = PlanarSignal(channelCount: 3, frames: 700)
    let poses = (0..<6).map { YawPitchRoll(yaw: Double($0) * 10).quaternion }
    let body = { (pose: Quaternion) in
      renderer.process(
        planar: UnsafePointer(input.channels), frames: 700, headPose: pose,
        left: output[0], right: output[1])
      renderer.process(
        interleaved: input[0], frames: 233, headPose: pose, into: output[2])
    }
    body(poses[0])
    body(poses[1])
    operation_counter_start()
    for i in 2..<6 { body(poses[i]) }
    let counts = operation_counter_stop()
    // Keep these alive, so that an early release by the optimiser is not counted.
    withExtendedLifetime((renderer, poses)) {}
    #expect(counts.allocations == 0)
    #expect(counts.frees == 0)
    #expect(counts.mutex_locks == 0)
    #expect(counts.objects == 0)
    #if !DEBUG
      #expect(counts.retains == 0)
      #expect(counts.releases == 0)
    #endif
  }

  /// The counter detects the allocations of the array functions.
  @Test func counterDetectsAllocationsOfRender() {
    let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let renderer = SampleRenderer(layout: layout, filters: .madeUp(order: 1))
    operation_counter_start()
    let count = renderer.render([0.1, 0.2, 0.3, 0.4]).count
    let counts = operation_counter_stop()
    #expect(count == 2)
    #expect(counts.allocations > 0)
  }
}
