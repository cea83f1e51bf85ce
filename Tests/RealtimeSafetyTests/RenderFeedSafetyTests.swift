// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import AudioMix
import Binaural
import CRealtime
import Geometry
import HeadTracking
import SignalProcessing
import Surround
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Everything that the server's write request runs: ring, head and renderer, in every state of a
/// player.
@Suite struct RenderFeedSafetyTests {
  @Test(arguments: [Renderer.Mode.spatial, .plain])
  func playbackIsRealtimeSafe(mode: Renderer.Mode) {
    let live = LiveFeed()
    live.feed.renderer.mode = mode
    live.expectSafe(turns: 20) {}
    #expect(live.feed.sourcePosition > 0)
  }

  @Test func modeChangesAreRealtimeSafe() {
    let live = LiveFeed()
    var mode = StageMode.tracked
    live.expectSafe(turns: 30) {
      mode = mode.next
      live.feed.renderer.mode = mode == .off ? .plain : .spatial
      live.head.isFollowed = mode == .tracked
    }
  }

  /// Every style, with fades between them and with the filters of a tuning.
  @Test(arguments: [false, true])
  func mixingIsRealtimeSafe(isTuned: Bool) {
    let filters = [ParametricFilter(.highPass, frequency: 80, quality: 0.7)]
    let tuning = MixTuning(
      speech: .init(gainDecibels: 2, equaliser: filters),
      ambience: .init(gainDecibels: -1, equaliser: filters))
    let live = LiveFeed(
      mix: MixSettings(style: .standard, tuning: isTuned ? tuning : MixTuning()))
    var turn = 0
    live.expectSafe(turns: 60) {
      let styles = MixStyle.allCases
      live.feed.mixer?.value = (styles[turn / 3 % styles.count], Double(turn % 5) / 4)
      turn += 1
    }
    #expect(live.feed.sourcePosition > 0)
  }

  @Test func holdAndResumeAreRealtimeSafe() {
    let live = LiveFeed()
    live.expectSafe(turns: 4) {}
    live.feed.hold(true)
    live.expectSafe(turns: 12) {}
    #expect(live.feed.isSilent)
    live.ring.flush()
    live.feed.hold(false)
    live.expectSafe(turns: 12) {}
    #expect(!live.feed.isSilent)
  }

  @Test func restartFromSilenceIsRealtimeSafe() {
    let live = LiveFeed()
    live.expectSafe(turns: 8) { live.feed.beginFromSilence() }
  }

  /// Queued sound is rendered again after every block, in every state of the feed.
  @Test func rewritingIsRealtimeSafe() {
    let live = LiveFeed(rewritableSeconds: 0.5)
    live.expectSafe(turns: 40) {}
    #expect(live.rewrittenFrames > 0)
    live.feed.volume = 0.5
    live.expectSafe(turns: 8) { live.head.isFollowed.toggle() }
    live.feed.hold(true)
    live.expectSafe(turns: 12) {}
    live.ring.flush()
    live.feed.hold(false)
    live.expectSafe(turns: 12) {}
    live.expectSafe(turns: 8) { live.feed.beginFromSilence() }
    let before = live.rewrittenFrames
    live.expectSafe(turns: 40) {}
    #expect(live.rewrittenFrames > before)
  }

  @Test func starvationIsRealtimeSafe() {
    let live = LiveFeed()
    live.expectSafe(turns: 4) {}
    live.isFilled = false
    live.expectSafe(turns: 40) {}
    #expect(live.feed.isStarved)
  }

  @Test func endOfSourceIsRealtimeSafe() {
    let live = LiveFeed()
    live.expectSafe(turns: 4) {}
    live.isFilled = false
    live.feed.setEnded(true)
    live.expectSafe(turns: 60) {}
    #expect(live.feed.isExhausted)
  }

  @Test(arguments: [false, true])
  func playbackWithoutTrackerIsRealtimeSafe(isRecorded: Bool) {
    let trajectory = HeadTrajectory(
      times: [0, 0.1], poses: [.identity, Quaternion(w: 0.8, x: 0, y: 0, z: 0.6)])
    let live = LiveFeed(isRecorded ? .recorded(trajectory) : HeadToStageSource.Origin.none)
    live.expectSafe(turns: 20) {}
  }

  /// The sound of a virtual sink, with and without the upmix, through silence and back.
  @Test(arguments: [false, true])
  func liveSoundIsRealtimeSafe(isUpmixed: Bool) {
    let ear = [[Float]](repeating: [Float](repeating: 0.1, count: 256), count: 36)
    let renderer = Renderer(
      layout: Upmixer.layout,
      filters: BinauralFilters(order: 5, sampleRate: 48_000, left: ear, right: ear), busOrder: 5,
      blockFrames: 256, mode: .spatial, finish: .safe)
    let poses = HeadPoseSource()
    let live = LiveRenderer(
      renderer: renderer, head: HeadToStageSource(.source(poses)),
      upmix: isUpmixed ? .lowLatency : nil)
    let samples = (0..<1_024 * live.channels).map { Float(($0 * 13) % 31) / 31 - 0.5 }
    var output = [Float](repeating: 0, count: 2 * 1_024)
    var time = monotonic_nanoseconds()
    for turn in 0..<60 {
      let frames = [256, 128, 1_024, 17][turn % 4]
      poses.push(
        HeadSample(
          time: time, headToWorld: YawPitchRoll(yaw: Double(turn), pitch: 0, roll: 0).quaternion,
          angularVelocity: SIMD3(0, 0, 2)))
      let isSilent = (20..<50).contains(turn)
      samples.withUnsafeBufferPointer { samples in
        output.withUnsafeMutableBufferPointer { output in
          expectRealtimeSafe {
            live.render(
              isSilent ? nil : samples.baseAddress, into: output.baseAddress!, frames: frames,
              time: time)
          }
        }
      }
      time += Int64(frames) * 1_000_000_000 / 48_000
      if turn == 49 { #expect(live.isSilent) }
    }
    #expect(!live.isSilent)
  }
}

/// A feed with its surroundings in a player: a ring that is kept full, and a tracker that turns.
private final class LiveFeed {
  let ring: FrameRing
  let feed: RenderFeed
  let head: HeadToStageSource
  var isFilled = true
  private let poses = HeadPoseSource()
  private var time: Int64
  private var yaw = 0.0
  private let noise: PlanarSignal
  private let output = UnsafeMutablePointer<Float>.allocate(capacity: 4_000)
  private var rendered = 0
  private(set) var rewrittenFrames = 0

  /// - Parameter mix: the mix of a separated soundfield; nil for a 5.1 source.
  init(
    _ origin: HeadToStageSource.Origin? = nil, rewritableSeconds: Double = 0,
    mix: MixSettings? = nil
  ) {
    let planes = mix == nil ? 6 : 4 + StemPlanes.count
    ring = FrameRing(channelCount: planes, capacity: 48_000)
    noise = PlanarSignal(channelCount: planes, frames: 2_000) { channel, frame in
      frame.isMultiple(of: 700) ? .nan : Float((frame * (channel + 7)) % 41) / 41 - 0.5
    }
    let response = [Float](unsafeUninitializedCapacity: 512) { taps, count in
      for i in 0..<512 { taps[i] = i == 48 ? 0.5 : 0 }
      count = 512
    }
    let order = mix == nil ? 5 : 1
    let ear = [[Float]](repeating: response, count: (order + 1) * (order + 1))
    let bed = ChannelLayout.speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ])
    let renderer = Renderer(
      layout: mix == nil ? bed : .ambisonics(order: 1, convention: .ambiX, headLocked: false),
      filters: BinauralFilters(order: order, sampleRate: 48_000, left: ear, right: ear),
      busOrder: order, blockFrames: 256, mode: .spatial, finish: .safe,
      rewritableSeconds: rewritableSeconds)
    head = HeadToStageSource(origin ?? .source(poses))
    feed = RenderFeed(
      ring: ring, renderer: renderer, head: head,
      mixer: mix.map { StemMixer(channels: 4, sampleRate: 48_000, settings: $0) })
    time = monotonic_nanoseconds()
  }

  deinit { output.deallocate() }

  /// Renders a number of blocks. Before each block it calls `change` and does the work of the other
  /// threads.
  func expectSafe(turns: Int, _ change: () -> Void) {
    for turn in 0..<turns {
      change()
      runOtherThreads()
      let frames = [480, 2_400 / 3, 17, 1_024][turn % 4]
      expectRealtimeSafe {
        feed.render(output, frames: frames, time: time)
        time += Int64(frames) * 1_000_000_000 / 48_000
        rendered += frames
        let back = min(rendered, 3_000)
        rewrittenFrames += feed.rewrite(
          output, framesBack: back, frames: min(back, 1_920),
          time: time - Int64(back) * 1_000_000_000 / 48_000)
      }
    }
  }

  private func runOtherThreads() {
    if isFilled { while ring.write(from: noise.channels, frames: 2_000) == 2_000 {} }
    // The samples are fresh, however long the counting takes.
    head.now = time
    yaw += 0.02
    poses.push(
      HeadSample(
        time: time, headToWorld: YawPitchRoll(yaw: yaw * 57, pitch: 0, roll: 0).quaternion,
        angularVelocity: SIMD3(0, 0, 2)))
    if yaw > 0.2 { poses.recenter() }
  }
}
