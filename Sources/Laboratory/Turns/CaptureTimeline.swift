// SPDX-License-Identifier: Apache-2.0

/// When each frame of a recording was played, from the times that came with its fragments.
///
/// The reports jitter, the sink does not: a fragment's time is the median of what its neighbours
/// within half a second say.
package struct CaptureTimeline: Sendable {
  /// The first frame of a fragment and when it was played, CLOCK_MONOTONIC [ns].
  package typealias Report = (frame: Int, time: Int64)

  private let anchors: [(frame: Int, time: Double)]
  private let nanosecondsPerFrame: Double
  /// Root mean square of what the reports are off the line, ms.
  package let jitterMilliseconds: Double

  /// Nil without reports.
  package init?(_ reports: [Report], sampleRate: Double) {
    guard !reports.isEmpty else { return nil }
    let pace = 1e9 / sampleRate
    nanosecondsPerFrame = pace
    let base = reports[0].time
    let origins = reports.map { Double($0.time - base) - Double($0.frame) * pace }
    var (squares, anchors) = (0.0, [(frame: Int, time: Double)]())
    for (index, report) in reports.enumerated() {
      let near = origins[max(0, index - 25)..<min(origins.count, index + 26)].sorted()
      let origin = near[near.count / 2]
      squares += (origins[index] - origin) * (origins[index] - origin)
      anchors.append((report.frame, Double(base) + origin + Double(report.frame) * pace))
    }
    self.anchors = anchors
    jitterMilliseconds = (squares / Double(reports.count)).squareRoot() * 1e-6
  }

  /// When a frame was played, CLOCK_MONOTONIC [ns].
  package func time(ofFrame frame: Double) -> Double {
    let place = index { Double($0.frame) <= frame }
    return anchors[place].time + (frame - Double(anchors[place].frame)) * nanosecondsPerFrame
  }

  /// The frame that was played at a time.
  package func frame(at time: Double) -> Int {
    let place = index { $0.time <= time }
    let frames = (time - anchors[place].time) / nanosecondsPerFrame
    return anchors[place].frame + Int(frames.rounded())
  }

  /// The last anchor for which something holds that ends to hold somewhere.
  private func index(where holds: ((frame: Int, time: Double)) -> Bool) -> Int {
    var (low, high) = (0, anchors.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if holds(anchors[middle]) { low = middle } else { high = middle }
    }
    return low
  }
}
