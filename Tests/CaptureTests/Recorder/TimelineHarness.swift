// SPDX-License-Identifier: Apache-2.0

import System

@testable import Capture

/// Collects the output of a timeline: the numbers of frames, with 0 for silence.
final class CollectedTimeline: TimelineOutput {
  let rate: Double
  private(set) var frames: [Float] = []
  private(set) var gaps: [(cause: Gap.Cause, seconds: Double, position: Int)] = []

  init(rate: Double) { self.rate = rate }

  func append(_ samples: UnsafePointer<Float>, frames count: Int) {
    frames += UnsafeBufferPointer(start: samples, count: count)
  }

  func appendSilence(seconds: Double) {
    frames += [Float](repeating: 0, count: Int((seconds * rate).rounded()))
  }

  func note(_ cause: Gap.Cause, seconds: Double) { gaps.append((cause, seconds, frames.count)) }

  var seconds: Double { Double(frames.count) / rate }
  /// The frames that are not silence.
  var heard: [Float] { frames.filter { $0 != 0 } }
}

/// A source with a clock of its own that numbers its frames from 1, and a simulated time.
struct SimulatedSource {
  let output: CollectedTimeline
  var timeline: Timeline
  /// The time of CLOCK_MONOTONIC [s].
  var now = 1000.0
  private(set) var sent = 0
  private let rate: Double
  private let trueRate: Double
  private let blockFrames: Int
  /// The largest random delay of a block [s].
  var jitter: Double
  private var random: SeededGenerator
  private var lastTick = 0.0

  init(
    rate: Double = 48_000, driftPartsPerMillion: Double = 0, blockFrames: Int = 480,
    jitter: Double = 0.004, seed: UInt64 = 1
  ) {
    output = CollectedTimeline(rate: rate)
    timeline = Timeline(output: output)
    self.rate = rate
    trueRate = rate * (1 + driftPartsPerMillion * 1e-6)
    self.blockFrames = blockFrames
    self.jitter = jitter
    random = SeededGenerator(seed)
  }

  mutating func begin() {
    timeline.begin(sampleRate: Int(rate), channels: 1, at: now)
  }

  /// Delivers blocks for `seconds`. With `isLate`, they all arrive at the end of that time.
  mutating func play(_ seconds: Double, isLate: Bool = false) throws {
    let blocks = Int((seconds * trueRate / Double(blockFrames)).rounded())
    let end = now + Double(blocks * blockFrames) / trueRate
    for _ in 0..<blocks {
      now += Double(blockFrames) / trueRate
      let block = (1...blockFrames).map { Float(sent + $0) }
      sent += blockFrames
      let delay = Double.random(in: 0...1, using: &random) * jitter
      try timeline.add(block, frames: blockFrames, at: isLate ? end : now + delay)
      if !isLate { try tick(at: now + delay) }
    }
    try timeline.tick(at: now)
  }

  /// Delivers the blocks of the past `seconds` now.
  mutating func playStored(_ seconds: Double) throws {
    now -= seconds
    try play(seconds, isLate: true)
  }

  /// Lets time pass without blocks.
  mutating func wait(_ seconds: Double) throws {
    let end = now + seconds
    while now < end {
      now = min(end, now + 0.02)
      try timeline.tick(at: now)
    }
  }

  private mutating func tick(at time: Double) throws {
    guard time - lastTick > 0.02 else { return }
    lastTick = time
    try timeline.tick(at: time)
  }
}
