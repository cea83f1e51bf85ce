// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import Rendering

/// Simulates the error of the stage while the head moves: the angle between the head's pose when a
/// sound is heard and the pose that the sound was rendered for.
///
/// Sound is written in blocks, `queue` + `path` seconds before it is heard. If rewriting is on, a
/// tracker report may cause a rewrite of a window that begins `path` seconds after the report.
package struct TrackingModel: Sendable {
  /// Time from the earliest sound that can be rewritten to the sound being written, in seconds.
  package var queue = 0.150
  /// Time from a motion of the tracker to the earliest sound that the motion can affect, in
  /// seconds.
  package var path = 0.020
  /// Tracker reports per second.
  package var trackerRate = 100.0
  /// The duration of a rewritten window, in seconds.
  var window = 0.040
  /// The duration of an appended block, in seconds.
  var block = 0.010
  package var rewrites = true
  package var predicts = true
  /// The interval between grid points, in seconds: 16 frames at 48 kHz.
  private static let grid = 16.0 / 48_000

  package init() {}

  /// Returns the angles between the true and the rendered pose, in radians, at the scored grid
  /// points where both are known. The first 0.5 s of rendered sound is not scored.
  package func errors(over motion: RecordedMotion) -> [Double] {
    guard let begin = motion.times.first, let end = motion.times.last, end > begin else {
      return []
    }
    var run = Run(model: self, motion: motion, begin: begin, end: end)
    return run.errors()
  }

  /// The state of one simulation. Times except `begin` are in seconds from the start of the motion.
  private struct Run {
    let model: TrackingModel
    let seconds: Double
    /// The time of the motion's first sample, in seconds.
    let begin: Double
    let source = HeadPoseSource()
    /// The pose for which the sound at each grid point was last rendered; nil if not rendered.
    var rendered: [Quaternion?]
    let policy = RewritePolicy()
    var isRewriting = false
    var lastRendered = 0
    var asked: MotionCursor
    var truth: MotionCursor

    /// The time, in ns, at which the motion starts for the pose source. It is far from 0, the
    /// initial value of the times in the source.
    static let epoch: Int64 = 1_000_000_000_000

    init(model: TrackingModel, motion: RecordedMotion, begin: Double, end: Double) {
      self.model = model
      self.begin = begin
      seconds = end - begin
      rendered = Array(repeating: nil, count: Int(seconds / TrackingModel.grid) + 1)
      asked = MotionCursor(motion)
      truth = MotionCursor(motion)
      source.prediction = model.predicts ? .automatic : .off
      source.takesDriftBack = false
    }

    mutating func errors() -> [Double] {
      var (report, write) = (0.0, 0.0)
      while min(report, write) < seconds {
        if report <= write {
          take(at: report)
          report += 1 / model.trackerRate
        } else {
          let heard = write + model.queue + model.path
          render(heard..<heard + model.block, at: write)
          write += model.block
        }
      }
      return score()
    }

    private mutating func take(at time: Double) {
      guard let state = asked.state(at: begin + time) else { return }
      source.push(
        HeadSample(
          time: Self.stamp(time), headToWorld: state.pose, angularVelocity: state.velocity))
      if model.rewrites { rewrite(at: time) }
    }

    private mutating func rewrite(at now: Double) {
      let grid = TrackingModel.grid
      let turn = Int(((now + model.path) / grid).rounded(.up))
      let last = turn + Int(model.window / grid)
      guard last < rendered.count, let played = rendered[turn], let next = rendered[turn + 1] else {
        return
      }
      source.beginPass(
        from: Self.stamp(Double(turn) * grid), to: Self.stamp(Double(last) * grid),
        played: played, now: Self.stamp(now))
      let interval = Double(source.sampleIntervalOfPass) * 1e-9
      let beyond = min(policy.longestTailSeconds, policy.tailIntervals * interval)
      let tail = min(lastRendered, last + Int(beyond / grid))
      isRewriting = policy.wantsRewrite(
        error: largestError(turn...last), tailError: largestError(last...max(last, tail)),
        isGoingOn: isRewriting)
      guard isRewriting else { return }
      let residual = ResidualTurn(
        played: played, playedNext: next, truth: truthOfPass(turn),
        truthNext: truthOfPass(turn + 1), apart: grid, interval: interval, policy: policy)
      // The window ends with a crossfade back to the queued sound.
      for point in turn + 1..<last - Int(policy.fadeSeconds / grid) {
        let left = residual.left(after: Double(point - turn) * grid)
        rendered[point] = (truthOfPass(point) * Quaternion(rotationVector: left)).normalized
      }
    }

    private func truthOfPass(_ point: Int) -> Quaternion {
      source.poseOfPass(at: Self.stamp(Double(point) * TrackingModel.grid))
    }

    private func largestError(_ points: ClosedRange<Int>) -> Double {
      var largest = 0.0
      for point in stride(from: points.lowerBound, through: points.upperBound, by: 4) {
        guard let played = rendered[point] else { continue }
        largest = max(largest, Quaternion.angle(between: played, truthOfPass(point)))
      }
      return largest
    }

    private mutating func render(_ heard: Range<Double>, at now: Double) {
      let first = Int((heard.lowerBound / TrackingModel.grid).rounded(.up))
      let last = Int((heard.upperBound / TrackingModel.grid).rounded(.up))
      guard first < min(last, rendered.count) else { return }
      lastRendered = min(last, rendered.count) - 1
      for point in first...lastRendered {
        let moment = Double(point) * TrackingModel.grid
        rendered[point] = source.pose(at: Self.stamp(moment), now: Self.stamp(now))
      }
    }

    private mutating func score() -> [Double] {
      guard let yaw = source.front else { return [] }
      let front = Quaternion(rotationVector: SIMD3(0, 0, -yaw))
      var errors: [Double] = []
      let start = Int((model.queue + model.path + 0.5) / TrackingModel.grid)
      for point in rendered.indices.dropFirst(start) {
        let time = begin + Double(point) * TrackingModel.grid
        guard let pose = rendered[point], let head = truth.state(at: time), head.isScored else {
          continue
        }
        errors.append(Quaternion.angle(between: pose, front * head.pose))
      }
      return errors
    }

    private static func stamp(_ seconds: Double) -> Int64 {
      epoch + Int64((seconds * 1e9).rounded())
    }
  }
}

/// Reads a motion at ascending times.
struct MotionCursor {
  struct State {
    let pose: Quaternion
    let velocity: SIMD3<Double>?
    let isScored: Bool
  }

  private let motion: RecordedMotion
  private var next = 1

  init(_ motion: RecordedMotion) { self.motion = motion }

  /// Returns the state at a time, interpolated between two samples (the pose by slerp). `isScored`
  /// is that of the earlier sample. Returns nil outside the motion or if either pose is unknown.
  mutating func state(at time: Double) -> State? {
    let times = motion.times
    while next < times.count - 1, times[next] < time { next += 1 }
    guard next < times.count, let a = motion.poses[next - 1], let b = motion.poses[next],
      time >= times[next - 1], time <= times[next]
    else { return nil }
    let fraction = (time - times[next - 1]) / (times[next] - times[next - 1])
    var velocity: SIMD3<Double>?
    if !motion.angularVelocities.isEmpty {
      let (from, to) = (motion.angularVelocities[next - 1], motion.angularVelocities[next])
      velocity = from + (to - from) * fraction
    }
    return State(
      pose: .slerp(a, b, fraction), velocity: velocity,
      isScored: motion.isScored.isEmpty || motion.isScored[next - 1])
  }
}
