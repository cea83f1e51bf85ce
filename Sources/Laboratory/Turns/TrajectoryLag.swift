// SPDX-License-Identifier: Apache-2.0

/// By how much a heard motion is later than the head's, from the two courses alone: the lag at
/// which they agree best in the least squares sense.
package struct TrajectoryLag: Sendable, Equatable {
  /// Seconds; negative where the sound is ahead, as it may be of a head that is predicted.
  package var seconds: Double
  /// What is left of the difference, root mean square, in the unit of the courses.
  package var residual: Double
  /// Seconds by which the lag may be wrong, as far as the residual tells (one standard deviation).
  package var uncertainty: Double

  /// A course: times in seconds, rising, and values.
  package typealias Course = (times: [Double], values: [Double])

  /// - Parameters:
  ///   - heard: the course in the recording.
  ///   - head: the tracker's course.
  ///   - range: of lags, seconds.
  /// - Returns: nil where the courses do not overlap or the head hardly moves.
  package init?(of heard: Course, behind head: Course, in range: ClosedRange<Double> = -0.2...1.0) {
    let step = 0.001
    let count = Int((range.upperBound - range.lowerBound) / step)
    let lags = (0...max(1, count)).map { range.lowerBound + Double($0) * step }
    let costs = lags.map { Self.cost(heard, head, lag: $0) }
    guard let best = costs.indices.min(by: { costs[$0].mean < costs[$1].mean }),
      costs[best].mean.isFinite, costs[best].points > 20
    else { return nil }
    var lag = lags[best]
    var bend = 0.0
    if best > 0, best < costs.count - 1 {
      let (a, b, c) = (costs[best - 1].mean, costs[best].mean, costs[best + 1].mean)
      bend = (a - 2 * b + c) / (step * step)
      if bend > 0 { lag += 0.5 * (a - c) / (a - 2 * b + c) * step }
    }
    guard bend > 0 else { return nil }
    seconds = lag
    let least = max(0, Self.cost(heard, head, lag: lag).mean)
    residual = least.squareRoot()
    uncertainty = (2 * least / (bend * Double(costs[best].points))).squareRoot()
  }

  private static func cost(
    _ heard: Course, _ head: Course, lag: Double
  ) -> (mean: Double, points: Int) {
    var (sum, points, next) = (0.0, 0, 1)
    for (time, value) in zip(heard.times, heard.values) where value.isFinite {
      let then = time - lag
      while next < head.times.count - 1, head.times[next] < then { next += 1 }
      guard next < head.times.count, then >= head.times[next - 1], then <= head.times[next] else {
        continue
      }
      let share = (then - head.times[next - 1]) / (head.times[next] - head.times[next - 1])
      let wanted = head.values[next - 1] + share * (head.values[next] - head.values[next - 1])
      sum += (value - wanted) * (value - wanted)
      points += 1
    }
    return points > 0 ? (sum / Double(points), points) : (.infinity, 0)
  }
}
