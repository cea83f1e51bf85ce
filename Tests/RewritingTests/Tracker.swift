// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport

/// A tracker in simulated time: samples of a known motion that arrive late and unevenly.
struct SimulatedTracker {
  var rate = 100.0
  /// Delay of the arrival, and up to `jitter` more; in seconds.
  var transport = 0.001
  var jitter = 0.0005
  var hasGyroscope = true
  /// Standard deviation of the orientation on each axis, in degrees.
  var noise = 0.0
  let motion: (Double) -> Quaternion
  private var next = 0
  private var random = SeededGenerator(3)
  private var waiting: (arrival: Double, taken: Double)?

  init(_ motion: @escaping (Double) -> Quaternion) { self.motion = motion }

  /// Pushes the samples that have arrived. Returns whether there were any.
  mutating func push(to server: QueueServer) -> Bool {
    let now = Double(server.now) / QueueServer.rate
    var hasPushed = false
    while true {
      let sample = waiting ?? make()
      waiting = sample
      guard sample.arrival <= now else { return hasPushed }
      let (before, after) = (motion(sample.taken - 5e-4), motion(sample.taken + 5e-4))
      server.head.push(
        HeadSample(
          time: QueueServer.origin + Int64(sample.arrival * 1e9),
          headToWorld: motion(sample.taken) * disturbance(),
          angularVelocity: hasGyroscope
            ? (before.conjugate * after).rotationVector / 1e-3 : nil))
      waiting = nil
      hasPushed = true
    }
  }

  private mutating func disturbance() -> Quaternion {
    let normal = (0..<3).map { _ in
      (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
    }
    return Quaternion(
      rotationVector: SIMD3(normal[0], normal[1], normal[2]) * (noise * .pi / 180))
  }

  private mutating func make() -> (arrival: Double, taken: Double) {
    let taken = (Double(next) + 0.37) / rate
    next += 1
    return (taken + transport + Double.random(in: 0...jitter, using: &random), taken)
  }
}
