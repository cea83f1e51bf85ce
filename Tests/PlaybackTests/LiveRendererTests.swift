// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import HeadTracking
import SignalProcessing
import Surround
import TestSupport
import Testing

@testable import Playback
@testable import Rendering

@Suite struct LiveRendererTests {
  private static let surround = ChannelLayout.speakers(surround51)

  private static func renderer(_ layout: ChannelLayout = surround) -> Renderer {
    Renderer(layout: layout, filters: noiseFilters(order: 3), busOrder: 3, finish: .linear)
  }

  /// Renders interleaved samples in calls whose sizes are used in rotation; nil for silence.
  private func run(
    _ live: LiveRenderer, _ samples: [Float]?, frames: Int, sizes: [Int]
  ) -> [Float] {
    var output = [Float](repeating: .nan, count: 2 * frames)
    output.withUnsafeMutableBufferPointer { output in
      var (done, turn) = (0, 0)
      while done < frames {
        let count = min(sizes[turn % sizes.count], frames - done)
        let at = output.baseAddress! + 2 * done
        if let samples {
          samples.withUnsafeBufferPointer {
            live.render($0.baseAddress! + done * live.channels, into: at, frames: count, time: 0)
          }
        } else {
          live.render(nil, into: at, frames: count, time: 0)
        }
        (done, turn) = (done + count, turn + 1)
      }
    }
    return output
  }

  private func interleaved(_ signal: PlanarSignal, frames: Int) -> [Float] {
    (0..<frames * signal.channelCount).map {
      signal[$0 % signal.channelCount][$0 / signal.channelCount]
    }
  }

  @Test("A bed is rendered as the renderer alone renders it, in calls of any size")
  func bedIsRenderedExactly() {
    let filters = noiseFilters(order: 3)
    func fresh() -> Renderer {
      Renderer(layout: Self.surround, filters: filters, busOrder: 3, finish: .linear)
    }
    let sound = noise(channels: 6, frames: 6000)
    let truth = render(sound, with: fresh())
    let live = LiveRenderer(renderer: fresh(), head: HeadToStageSource(.none), upmix: nil)
    let output = run(
      live, interleaved(sound, frames: 6000), frames: 6000, sizes: [256, 17, 2000, 1, 512])
    let ears = (0..<2).map { ear in (0..<6000).map { output[2 * $0 + ear] } }
    #expect(residualDecibels(ears, truth) < -115)
  }

  @Test("Live stereo is upmixed as in blocks, later by the latency of the upmix")
  func stereoIsUpmixed() {
    let settings = UpmixSettings.lowLatency
    let upmixer = Upmixer(sampleRate: testRate, settings: settings)
    let (hop, window) = (upmixer.hopFrames, upmixer.windowFrames)
    let frames = 40 * hop
    let sound = noise(channels: 2, frames: frames)
    let truth = PlanarSignal(channelCount: 6, frames: frames)
    for start in stride(from: 0, to: frames, by: hop) {
      let targets = (0..<6).map { truth[$0] + start }
      targets.withUnsafeBufferPointer {
        upmixer.process(
          left: sound[0] + start, right: sound[1] + start, into: $0.baseAddress!)
      }
    }
    var live = LiveUpmix(sampleRate: testRate, settings: settings)
    #expect(live.latencyFrames == window)
    let output = PlanarSignal(channelCount: 6, frames: frames)
    var (done, turn) = (0, 0)
    while done < frames {
      let count = min([100, 1, 256, 37][turn % 4], frames - done)
      var input = (0..<2).map { sound[$0] + done }
      var target = (0..<6).map { output[$0] + done }
      live.process(&input, into: &target, frames: count)
      (done, turn) = (done + count, turn + 1)
    }
    for channel in 0..<6 {
      for frame in hop..<frames {
        #expect(output[channel][frame] == truth[channel][frame - hop])
      }
    }
  }

  @Test("An impulse is heard after the delay that is stated")
  func delayIsStated() {
    for upmix in [UpmixSettings.lowLatency, nil] {
      let layout = upmix == nil ? Self.surround : Upmixer.layout
      let taps = 24
      var ear = [[Float]](repeating: [Float](repeating: 0, count: taps), count: 16)
      // The filters of a design have a constant delay of 1 ms.
      ear[0][Int(BinauralFilters.delaySeconds * testRate)] = 1
      let filters = BinauralFilters(order: 3, sampleRate: testRate, left: ear, right: ear)
      let live = LiveRenderer(
        renderer: Renderer(layout: layout, filters: filters, busOrder: 3, finish: .safe),
        head: HeadToStageSource(.none), upmix: upmix)
      var input = [Float](repeating: 0, count: 4000 * live.channels)
      for channel in 0..<2 { input[1000 * live.channels + channel] = 0.2 }
      let output = run(live, input, frames: 4000, sizes: [128])
      let peak = (0..<4000).max { abs(output[2 * $0]) < abs(output[2 * $1]) } ?? 0
      #expect(abs(peak - 1000 - live.delayFrames) <= 1, "\(peak) \(live.delayFrames)")
    }
  }

  @Test("After silence, sound is rendered as at the start")
  func silenceIsNotRendered() {
    let filters = noiseFilters(order: 3)
    func fresh() -> LiveRenderer {
      LiveRenderer(
        renderer: Renderer(layout: Self.surround, filters: filters, busOrder: 3),
        head: HeadToStageSource(.none), upmix: nil)
    }
    let sound = interleaved(noise(channels: 6, frames: 3000), frames: 3000)
    let first = run(fresh(), sound, frames: 3000, sizes: [256])
    let live = fresh()
    #expect(live.isSilent)
    _ = run(live, sound, frames: 3000, sizes: [256])
    #expect(!live.isSilent)
    let rest = run(live, nil, frames: 5000, sizes: [256])
    #expect(live.isSilent)
    #expect(rest.suffix(2000).allSatisfy { $0 == 0 })
    let again = run(live, sound, frames: 3000, sizes: [256])
    #expect(!live.isSilent)
    var worst: Float = 0
    for (a, b) in zip(first, again) { worst = max(worst, abs(a - b)) }
    #expect(worst < 1e-5)
  }

  @Test("A warm-up is not heard")
  func warmUpLeavesNoTrace() {
    let filters = noiseFilters(order: 3)
    func fresh() -> LiveRenderer {
      LiveRenderer(
        renderer: Renderer(layout: Upmixer.layout, filters: filters, busOrder: 3, finish: .live),
        head: HeadToStageSource(.none), upmix: .lowLatency)
    }
    let sound = interleaved(noise(channels: 2, frames: 3000), frames: 3000)
    let cold = run(fresh(), sound, frames: 3000, sizes: [256])
    let live = fresh()
    live.warmUp()
    #expect(live.isSilent)
    #expect(run(live, nil, frames: 1000, sizes: [256]).allSatisfy { $0 == 0 })
    let warm = run(live, sound, frames: 3000, sizes: [256])
    #expect(zip(cold, warm).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test("One tracker turns the heads of several renderers alike")
  func branchesHaveTheSamePoses() {
    let source = HeadPoseSource()
    let all = [source, source.branch(), source.branch()]
    source.beginReference()
    let start: Int64 = 1_000_000_000
    func push(_ step: Int) {
      let turned = YawPitchRoll(yaw: 30 + Double(step), pitch: 0, roll: 0).quaternion
      source.push(HeadSample(time: start + Int64(step) * 10_000_000, headToWorld: turned))
    }
    func poses(_ step: Int) -> [Quaternion] {
      all.map { $0.pose(at: start + Int64(step) * 10_000_000, now: start) }
    }
    for step in 0..<20 { push(step) }
    let turned = poses(19)
    #expect(turned.allSatisfy { $0 == turned[0] })
    #expect(Quaternion.angle(between: turned[0], .identity) > 0.1)
    source.recenter()
    for step in 20..<120 { push(119 - step % 2) }
    let front = poses(119)
    #expect(front.allSatisfy { $0 == front[0] })
    #expect(Quaternion.angle(between: front[0], .identity) < 0.1)
  }
}
