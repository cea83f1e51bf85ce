// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import HeadTracking
import SignalProcessing
import TestSupport

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// A sound server in simulated time. It pulls blocks into a deep queue, has windows of it rendered
/// again when the tracker reports, and records the output.
final class QueueServer {
  static let rate = 48_000.0
  static let origin: Int64 = 1_000_000_000_000

  let sound: PlanarSignal
  let renderer: Renderer
  let feed: RenderFeed
  let head = HeadPoseSource()
  let stage: HeadToStageSource
  /// Every frame written, 2 x frames. Frames that have been played no longer change.
  private(set) var output: [[Float]] = [[], []]
  /// The poses of the output, by grid point.
  private(set) var poses: [Quaternion] = []
  /// Whether the limiter's input was one rendering, by cell of the grid.
  private(set) var isPure: [Bool] = []
  private(set) var rewrites = 0
  private(set) var rewrittenFrames = 0

  /// In frames: the length of the queue, of a block, from the present to the window, and of the
  /// window.
  var depth = 7_200
  var blocks = [480]
  var margins = [240]
  var windows = [1_920]
  /// Frames between two checks of the queue while it needs rewriting.
  var period = 480
  /// The error of the server's latency report, in ns.
  var clockError: () -> Int64 = { 0 }
  /// Whether the queue is checked every `period` without a request.
  var checksPeriodically = false
  /// Whether the server only appends and never rewrites.
  var onlyAppends = false

  private(set) var now = 0
  private var written = 0
  private var taken = 0
  private var lastCheck = 0
  private var turn = 0
  private var needsRewriting = false
  private var random = SeededGenerator(4)
  private let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 2 * 8_192)

  private let policy: RewritePolicy

  init(
    _ sound: PlanarSignal, layout: ChannelLayout, filters: BinauralFilters, busOrder: Int = 5,
    volume: Float = 1, policy: RewritePolicy = RewritePolicy()
  ) {
    self.sound = sound
    self.policy = policy
    renderer = Renderer(
      layout: layout, filters: filters, busOrder: busOrder, blockFrames: 256, mode: .spatial,
      finish: .safe, rewritableSeconds: 0.5, policy: policy)
    stage = HeadToStageSource(.source(head))
    feed = RenderFeed(
      ring: FrameRing(channelCount: layout.channelCount, capacity: 48_000), renderer: renderer,
      head: stage, policy: policy)
    feed.volume = volume
    stage.now = time(0)
  }

  deinit { buffer.deallocate() }

  /// Returns when a frame of the output is audible, in ns.
  func time(_ frame: Int) -> Int64 { Self.origin + Int64(Double(frame) / Self.rate * 1e9) }

  /// Plays a number of frames. Before each millisecond, `event` may push a sample, and returns
  /// whether it did.
  func play(_ frames: Int, _ event: (QueueServer) -> Bool = { _ in false }) {
    let end = now + frames
    while now < end {
      stage.now = time(now)
      let isRequested = event(self)
      fillRing()
      while written - now < depth {
        render(blocks[turn % blocks.count])
        turn += 1
      }
      if onlyAppends {
        recordPoses()
        now += 48
        continue
      }
      let isDue = now - lastCheck >= period
      if isRequested {
        checkQueue()
      } else if isDue, checksPeriodically || needsRewriting {
        checkQueue()
      }
      recordPoses()
      now += 48
    }
  }

  private func fillRing() {
    let moved = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(
      capacity: sound.channelCount)
    defer { moved.deallocate() }
    for c in 0..<sound.channelCount { (moved + c).initialize(to: sound[c] + taken) }
    taken += feed.ring.write(from: moved, frames: sound.frames - taken)
    if taken == sound.frames { feed.setEnded(true) }
  }

  /// Goes to another frame of the source.
  func seek(to frame: Int) {
    feed.setEnded(false)
    feed.ring.flush()
    taken = frame
    fillRing()
  }

  private func render(_ frames: Int) {
    feed.render(buffer, frames: frames, time: time(written) + clockError())
    for ear in 0..<2 { output[ear] += (0..<frames).map { buffer[2 * $0 + ear] } }
    written += frames
  }

  private func checkQueue() {
    lastCheck = now
    let start = now + (margins.randomElement(using: &random) ?? 0)
    let frames = min(windows.randomElement(using: &random) ?? 0, written - start)
    guard frames > 0 else { return }
    let count = feed.rewrite(
      buffer, framesBack: written - start, frames: frames, time: time(start) + clockError())
    needsRewriting = count > 0
    guard count > 0 else { return }
    rewrites += 1
    rewrittenFrames += count
    for i in 0..<count {
      for ear in 0..<2 { output[ear][start + i] = buffer[2 * i + ear] }
    }
  }

  /// Records the poses of the next millisecond, which no longer change.
  private func recordPoses() {
    let end = (now + 48 - renderer.latencyFrames) / Renderer.gridFrames
    while poses.count < end {
      poses.append(feed.played[poses.count].headToStage)
      isPure.append(renderer.isPure(at: isPure.count * Renderer.gridFrames))
    }
  }

  /// The output played so far, 2 x frames.
  var heard: [[Float]] { output.map { Array($0[..<now]) } }

  /// Renders the poses of the output in one pass: 2 x frames.
  func direct(_ layout: ChannelLayout, _ filters: BinauralFilters, busOrder: Int = 5) -> [[Float]] {
    let renderer = Renderer(
      layout: layout, filters: filters, busOrder: busOrder, blockFrames: 256, finish: .safe)
    renderer.gain = feed.volume
    let frames = (poses.count - 2) * Renderer.gridFrames
    let ears = PlanarSignal(channelCount: 2, frames: frames)
    let input = PlanarSignal(channelCount: sound.channelCount, frames: frames) {
      self.sound[$0][$1]
    }
    var done = 0
    input.forEachPiece(of: [512]) { planes, count in
      let points = renderer.gridPoints(forNext: count).map { self.poses[$0] }
      renderer.process(
        input: planes, frames: count, poses: points, left: ears[0] + done, right: ears[1] + done)
      done += count
    }
    return ears.arrays
  }
}

extension QueueServer {
  /// Returns when a grid point is audible, in seconds.
  func heardSeconds(_ point: Int) -> Double {
    Double(point * Renderer.gridFrames + renderer.latencyFrames) / Self.rate
  }

  /// Returns whether a frame of the output is one rendering.
  func isPure(around frame: Int) -> Bool {
    let cell = (frame - renderer.latencyFrames) / Renderer.gridFrames
    guard cell > 0, cell + 1 < isPure.count else { return false }
    return isPure[cell - 1...cell + 1].allSatisfy { $0 }
  }

  /// Returns the angles between the poses of the output and those of the head at that time, in
  /// radians. The front is the first pose of the head.
  func errors(_ motion: (Double) -> Quaternion) -> [Double] {
    poses.indices.map { Quaternion.angle(between: poses[$0], motion(heardSeconds($0))) }
  }
}
