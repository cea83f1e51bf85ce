// SPDX-License-Identifier: Apache-2.0

/// Computes when each frame of a recording was played, from one report for each fragment of the
/// recording.
///
/// The reported times jitter. Each report implies a time of frame 0. A fragment's time is computed
/// from the median of these implied times over its own report and up to 50 neighbouring reports.
package struct CaptureTimeline: Sendable {
  /// A frame of a fragment, and the CLOCK_MONOTONIC time at which that frame was played, in ns.
  package typealias Report = (frame: Int, time: Int64)

  private let anchors: [(frame: Int, time: Double)]
  private let nanosecondsPerFrame: Double
  /// Root mean square deviation of the reports from the smoothed times, in ms.
  package let jitterMilliseconds: Double

  /// Smooths the times of the reports, which must be in ascending order. The sample rate is in Hz.
  /// Returns nil if there are no reports.
  package init?(_ reports: [Report], sampleRate: Double) {
    guard !reports.isEmpty else { return nil }
    let pace = 1e9 / sampleRate
    nanosecondsPerFrame = pace
    let base = reports[0].time
    // The time of frame 0 that each report implies, relative to `base`.
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

  /// Returns the CLOCK_MONOTONIC time at which a frame was played, in ns. The frame may be
  /// fractional.
  package func time(ofFrame frame: Double) -> Double {
    let place = index { Double($0.frame) <= frame }
    return anchors[place].time + (frame - Double(anchors[place].frame)) * nanosecondsPerFrame
  }

  /// Returns the frame that was played at a CLOCK_MONOTONIC time in ns, to the nearest frame.
  package func frame(at time: Double) -> Int {
    let place = index { $0.time <= time }
    let frames = (time - anchors[place].time) / nanosecondsPerFrame
    return anchors[place].frame + Int(frames.rounded())
  }

  /// Returns the index of the last anchor that satisfies `holds`; 0 if none does. The anchors that
  /// satisfy `holds` must come first.
  private func index(where holds: ((frame: Int, time: Double)) -> Bool) -> Int {
    var (low, high) = (0, anchors.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if holds(anchors[middle]) { low = middle } else { high = middle }
    }
    return low
  }
}
