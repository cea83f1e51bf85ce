// SPDX-License-Identifier: Apache-2.0

internal import Geometry

/// Rendering queued sound again for newer head poses.
///
/// ## Threading
/// Use these members on the audio thread only.
extension RenderFeed {
  /// Renders a window of the queue again if the policy requires it.
  ///
  /// - Parameters:
  ///   - interleaved: receives left and right samples for each frame to replace.
  ///   - framesBack: the number of frames from the start of the window to the end of the rendered
  ///     output.
  ///   - frames: the maximum length of the window.
  ///   - time: when the first frame of the window is audible, in CLOCK_MONOTONIC nanoseconds.
  /// - Returns: the number of frames to replace, from the start of the window; 0 for none.
  package func rewrite(
    _ interleaved: UnsafeMutablePointer<Float>, framesBack: Int, frames: Int, time: Int64
  ) -> Int {
    guard head.becomesKnown,
      let plan = renderer.planRewrite(framesBack: framesBack, frames: frames)
    else { return 0 }
    let clock = GridClock(
      time: time, frame: plan.start - renderer.latencyFrames, rate: renderer.sampleRate)
    let turn = plan.turn / Renderer.gridFrames
    let last = plan.points.upperBound - 1
    head.beginPass(from: clock.time(turn), to: clock.time(last), played: played[turn])
    // The sound after the window must be acceptable until the tracker's next sample arrives.
    let seconds = min(policy.longestTailSeconds, policy.tailIntervals * head.sampleSeconds)
    let tail = min(lastPoint, last + Int(seconds * clock.rate) / Renderer.gridFrames)
    isRewriting.pointee = policy.wantsRewrite(
      error: largestError(turn...last, clock),
      tailError: largestError(last...max(last, tail), clock),
      isGoingOn: isRewriting.pointee)
    guard isRewriting.pointee else { return 0 }
    setPoses(of: plan, clock)
    renderer.rewrite(plan, poses: poses, into: interleaved)
    return plan.end - plan.start
  }

  /// The last grid point whose pose the renderer has received.
  private var lastPoint: Int { renderer.gridPoints(forNext: 0).lowerBound - 1 }

  /// Returns the largest angle between the played and the newest poses, in radians. Checks every
  /// eighth point.
  private func largestError(_ points: ClosedRange<Int>, _ clock: GridClock) -> Double {
    var largest = 0.0
    var point = points.lowerBound
    while point <= points.upperBound {
      let truth = head.pointOfPass(heardAt: clock.time(point)).headToStage
      largest = max(largest, Quaternion.angle(between: played[point].headToStage, truth))
      // A check every 2.7 ms (at 48 kHz) is enough for a head.
      point += 8
    }
    return largest
  }

  /// Sets the poses for a plan. After `plan.turn`, they ease from the played poses to the newest
  /// poses. The poses for `plan.newPoints` are recorded as played.
  private func setPoses(of plan: RewritePlan, _ clock: GridClock) {
    let points = plan.points
    let turn = plan.turn / Renderer.gridFrames
    for point in points.lowerBound...turn {
      poses[point - points.lowerBound] = played[point].headToStage
    }
    let seconds = Double(Renderer.gridFrames) / renderer.sampleRate
    let truth = head.pointOfPass(heardAt: clock.time(turn)).headToWorld
    let next = head.pointOfPass(heardAt: clock.time(turn + 1)).headToWorld
    let residual = ResidualTurn(
      played: played[turn].headToWorld, playedNext: played[turn + 1].headToWorld, truth: truth,
      truthNext: next, apart: seconds, interval: head.sampleSeconds, policy: policy)
    let new = plan.newPoints
    for point in turn + 1..<points.upperBound {
      var here = head.pointOfPass(heardAt: clock.time(point))
      let left = residual.left(after: Double(point - turn) * seconds)
      here.headToWorld = (here.headToWorld * Quaternion(rotationVector: left)).normalized
      poses[point - points.lowerBound] = here.headToStage
      if point < new.upperBound { played[point] = here }
    }
  }
}

/// Converts grid points to the times when they are audible, in CLOCK_MONOTONIC nanoseconds.
private struct GridClock {
  /// The time at which `frame` is audible.
  var time: Int64
  /// A frame of the renderer's input.
  var frame: Int
  /// The sample rate, in Hz.
  var rate: Double

  func time(_ point: Int) -> Int64 {
    time + Int64(Double(point * Renderer.gridFrames - frame) / rate * 1e9)
  }
}
