// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import CommandSupport
import Geometry
import Laboratory
import Playback
import Rendering
import SoundSources

/// The latency of the renderer alone, for one block size.
struct RendererFigures: Codable {
  var blockFrames: Int
  /// Frames from the first frame with the new poses to the beginning of the turn in the output.
  var beginFrames: Double
  /// Frames from the first frame with the new poses to the midpoint of the turn in the output.
  var halfFrames: Double
  /// Frames from the first frame with the new poses to the frame from which the progress of the
  /// turn stays between 0.9 and 1.1.
  var settledFrames: Double
  /// `halfFrames` in ms.
  var halfMilliseconds: Double
  /// `halfFrames` plus one block, in ms.
  var worstMilliseconds: Double
  /// The limiter's delay, in frames. `halfFrames` includes this delay.
  var soundLatencyFrames: Int
  /// The duration of a render call, in ms.
  var render: Distribution?
}

/// Measures the latency of the renderer, including its limiter.
struct RendererLatency {
  private let ahead: EarSound
  private let left: EarSound
  private let rate: Int
  private let filters: HRTFChoice

  init(ahead: EarSound, left: EarSound, sampleRate: Int) throws(CommandFailure) {
    self.ahead = ahead
    self.left = left
    rate = sampleRate
    filters = try playing { () throws(PlaybackError) in
      try HRTFChoice(path: nil, interrupt: Signals.interrupt)
    }
  }

  func figures(block: Int) throws(CommandFailure) -> RendererFigures {
    var turns: [TurnFinder.Turn] = []
    var times: [Double] = []
    var latency = 0
    for change in [40, 41, 43, 47] {
      let (sound, frame, costs, delay) = try play(block: block, changeAfter: change * 256)
      let finder = TurnFinder(sampleRate: Double(rate))
      guard
        var turn = finder.turn(
          in: sound, frame - 4800..<frame + 7200, from: ahead, to: left, near: Double(-delay))
      else {
        throw CommandFailure("cannot find the turn in the renderer's output; report this bug")
      }
      turn.begin -= Double(frame)
      turn.half -= Double(frame)
      turn.settled -= Double(frame)
      turns.append(turn)
      times += costs
      latency = delay
    }
    func mean(_ value: (TurnFinder.Turn) -> Double) -> Double {
      turns.reduce(0) { $0 + value($1) } / Double(turns.count)
    }
    let half = mean(\.half)
    let milliseconds = 1000 / Double(rate)
    return RendererFigures(
      blockFrames: block, beginFrames: mean(\.begin), halfFrames: half,
      settledFrames: mean(\.settled), halfMilliseconds: half * milliseconds,
      worstMilliseconds: (half + Double(block)) * milliseconds, soundLatencyFrames: latency,
      render: Distribution(times))
  }

  /// Renders noise. The head turns by `LatencyRun.angle` at the beginning of the first block that
  /// begins at or after frame `changeAfter`.
  ///
  /// - Returns: the output, the first frame with the new poses, the duration of each call in ms,
  ///   and the limiter's delay in frames.
  private func play(
    block: Int, changeAfter: Int
  ) throws(CommandFailure) -> (EarSound, Int, [Double], Int) {
    let source = BenchNoise(sampleRate: rate)
    let settings = RenderSettings()
    let designed = try playing { () throws(PlaybackError) in
      try filters.filters(for: source.layout, settings: settings, sampleRate: Double(rate))
    }
    let renderer = Renderer(
      layout: source.layout, filters: designed, busOrder: settings.busOrder, blockFrames: block,
      finish: .safe)
    renderer.gain = 1
    let planes = Planes(count: 6, frames: block)
    defer { planes.deallocate() }
    let turned = YawPitchRoll(yaw: LatencyRun.angle, pitch: 0, roll: 0).quaternion
    var (left, right) = ([Float](), [Float]())
    var (costs, change) = ([Double](), Int.max)
    let end = changeAfter + 24_000
    while left.count < end {
      if change == .max, left.count >= changeAfter { change = left.count }
      try playing { () throws(PlaybackError) in
        _ = try source.read(into: planes.planes, frames: block)
      }
      let points = renderer.gridPoints(forNext: block)
      let poses = points.map {
        $0 * Renderer.gridFrames < change ? Quaternion.identity : turned
      }
      let start = monotonic_nanoseconds()
      renderer.process(
        input: UnsafePointer(planes.planes), frames: block, poses: poses, left: planes.planes[4],
        right: planes.planes[5])
      costs.append(Double(monotonic_nanoseconds() - start) * 1e-6)
      left += UnsafeBufferPointer(start: planes.planes[4], count: block)
      right += UnsafeBufferPointer(start: planes.planes[5], count: block)
    }
    return (EarSound(left: left, right: right), change, costs, renderer.latencyFrames)
  }
}

/// Sample memory for several channels.
private struct Planes {
  let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let count: Int

  init(count: Int, frames: Int) {
    self.count = count
    planes = .allocate(capacity: count)
    for c in 0..<count {
      let plane = UnsafeMutablePointer<Float>.allocate(capacity: frames)
      plane.initialize(repeating: 0, count: frames)
      (planes + c).initialize(to: plane)
    }
  }

  func deallocate() {
    for c in 0..<count { planes[c].deallocate() }
    planes.deallocate()
  }
}
