// SPDX-License-Identifier: Apache-2.0

/// The delay of a heard motion behind the head's motion, found by least squares.
package struct TrajectoryLag: Sendable, Equatable {
  /// The lag in seconds; negative if the sound is ahead.
  package var seconds: Double
  /// Root mean square of the difference at that lag, in the unit of the values.
  package var residual: Double
  /// Standard error of the lag in seconds.
  package var uncertainty: Double

  /// A motion over time: ascending times in seconds, and a value for each.
  package typealias Course = (times: [Double], values: [Double])

  /// Finds the lag of a heard course behind the head's course.
  ///
  /// - Parameters:
  ///   - heard: the course measured in the recording; values that are not finite are ignored.
  ///   - head: the tracker's course.
  ///   - range: the range of lags to search, in seconds.
  /// - Returns: nil if, at the best lag, at most 20 values of `heard` fall between the first and
  ///   the last time of `head`, or if the mean squared difference has no minimum inside the range.
  package init?(of heard: Course, behind head: Course, in range: ClosedRange<Double> = -0.2...1.0) {
    let step = 0.001
    let count = Int((range.upperBound - range.lowerBound) / step)
    let lags = (0...max(1, count)).map { range.lowerBound + Double($0) * step }
    // Compute the mean squared difference for each lag, in steps of 1 ms.
    let costs = lags.map { Self.cost(heard, head, lag: $0) }
    guard let best = costs.indices.min(by: { costs[$0].mean < costs[$1].mean }),
      costs[best].mean.isFinite, costs[best].points > 20
    else { return nil }
    // Refine the minimum with a parabola.
    var lag = lags[best]
    var bend = 0.0
    if best > 0, best < costs.count - 1 {
      let (a, b, c) = (costs[best - 1].mean, costs[best].mean, costs[best + 1].mean)
      bend = (a - 2 * b + c) / (step * step)
      if bend > 0 { lag += 0.5 * (a - c) / (a - 2 * b + c) * step }
    }
    guard bend > 0 else { return nil }
    seconds = lag
    // The standard error follows from the residual and the curvature of the cost.
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
