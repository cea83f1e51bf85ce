// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import HeadTracking
import TestSupport

func sine(_ x: Double) -> Double { realtime_sin(x) }

/// Simulates a tracker and a renderer in simulated time. The tracker samples a known motion, and
/// its reports arrive with delay and jitter. The renderer requests poses in blocks, ahead of time.
struct PoseSimulation {
  var rate = 100.0
  /// The delay of arrivals, and the largest additional random delay, in milliseconds.
  var transport = 1.0
  var jitter = 0.5
  var hasGyroscope = true
  /// The renderer's block length, and how far ahead of the present it requests poses, in
  /// milliseconds.
  var block = 5.0
  var lead = 0.0
  var seconds = 2.5
  var seed: UInt64 = 1
  /// Whether the report of a sample at this time is lost.
  var isLost: (Double) -> Bool = { _ in false }
  var motion: (Double) -> Quaternion

  struct Point {
    /// Stream time, in seconds.
    var time: Double
    var pose: Quaternion
  }

  static let origin: Int64 = 1_000_000_000_000
  static let grid = 32.0 / 48000

  init(_ motion: @escaping (Double) -> Quaternion) { self.motion = motion }

  func run(_ source: HeadPoseSource = HeadPoseSource()) -> [Point] {
    var noise = SeededGenerator(seed)
    var arrivals: [(Double, HeadSample)] = []
    for index in 0..<Int(seconds * rate) {
      let time = (Double(index) + 0.37) / rate
      if isLost(time) { continue }
      let late = transport + Double.random(in: 0...jitter, using: &noise)
      arrivals.append((time + late * 1e-3, sample(time, arrival: time + late * 1e-3)))
    }
    var points: [Point] = []
    var next = 0
    var step = 0
    var now = 0.0
    while now < seconds {
      while next < arrivals.count, arrivals[next].0 <= now {
        source.push(arrivals[next].1)
        next += 1
      }
      let end = now + block * 1e-3
      while Double(step) * Self.grid < end {
        let stream = Double(step) * Self.grid
        let requested = Self.nanoseconds(stream + lead * 1e-3)
        points.append(
          Point(time: stream, pose: source.pose(at: requested, now: Self.nanoseconds(now))))
        step += 1
      }
      now = end
    }
    return points
  }

  static func nanoseconds(_ seconds: Double) -> Int64 { origin + Int64(seconds * 1e9) }

  private func sample(_ time: Double, arrival: Double) -> HeadSample {
    let (before, after) = (motion(time - 5e-4), motion(time + 5e-4))
    let rate = (before.conjugate * after).rotationVector / 1e-3
    return HeadSample(
      time: Self.nanoseconds(arrival), headToWorld: motion(time),
      angularVelocity: hasGyroscope ? rate : nil)
  }
}

extension [PoseSimulation.Point] {
  /// The highest speed of the pose between two grid points, in degrees/s.
  func topSpeed(from start: Double = 0, to end: Double = .infinity) -> Double {
    zip(self, dropFirst()).filter { $0.0.time >= start && $0.1.time < end }.map {
      Quaternion.angle(between: $0.0.pose, $0.1.pose) * degreesPerRadian / PoseSimulation.grid
    }.max() ?? 0
  }

  /// The standard deviation of the yaw's speed, in degrees/s.
  func speedRipple(from start: Double, to end: Double) -> Double {
    let speeds = zip(self, dropFirst()).filter { $0.0.time >= start && $0.1.time < end }.map {
      ($0.0.pose.conjugate * $0.1.pose).rotationVector.z * degreesPerRadian / PoseSimulation.grid
    }
    let mean = speeds.reduce(0, +) / Double(speeds.count)
    return (speeds.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(speeds.count))
      .squareRoot()
  }

  /// The delay of the pose after the motion, in milliseconds: the delay with the smallest error.
  func delay(of motion: (Double) -> Quaternion, from start: Double, to end: Double) -> Double {
    let points = stride(from: 0, to: count, by: 23).map { self[$0] }
      .filter { $0.time >= start && $0.time < end }
    func error(_ delay: Double) -> Double {
      points.map {
        let angle = Quaternion.angle(between: $0.pose, motion($0.time - delay * 1e-3))
        return angle * angle
      }.reduce(0, +)
    }
    return stride(from: -90.0, through: 40, by: 0.5).min { error($0) < error($1) } ?? 0
  }

  func pose(at time: Double) -> Quaternion {
    first { $0.time >= time }?.pose ?? self[count - 1].pose
  }
}

/// A minimum-jerk turn about the vertical by `degrees`, from time 0 to `seconds`.
func turn(_ time: Double, degrees: Double, seconds: Double) -> Quaternion {
  let s = Swift.max(0, Swift.min(1, time / seconds))
  let share = s * s * s * (10 - 15 * s + 6 * s * s)
  return YawPitchRoll(yaw: degrees * share).quaternion
}
