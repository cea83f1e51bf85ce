// SPDX-License-Identifier: Apache-2.0

/// Gives the samples of a regular tracker regular times.
///
/// Arrivals jitter by the scheduler's and the bus's mood; the tracker's own clock does not. A
/// second-order loop follows it: phase and interval are corrected by a share of each residual,
/// with the gains of a growing memory at first (least squares over all samples so far) and of a
/// fading one later. Lost samples are counted as steps. Sources: F. Adriaensen, "Using a DLL to
/// filter time", LAC 2005; E. Brookner, "Tracking and Kalman Filtering Made Easy", 1998, ch. 1.
struct SampleClock: Sendable {
  /// The tracker's sampling interval in nanoseconds; 0 before the second sample.
  private(set) var interval = 0.0
  private var time = 0.0
  private var origin: Int64 = 0
  private var lastStamp: Int64?
  private var lastArrival: Int64 = 0
  private var recent: [Double] = []
  private var samples = 0

  /// Share of a residual that moves the phase once the loop has settled: 20 samples of memory.
  private static let settledGain = 0.05

  /// The regular time of a sample that arrived at `arrival`; rises with every call.
  mutating func stamp(_ arrival: Int64) -> Int64 {
    guard let previous = lastStamp else {
      origin = arrival
      return finish(arrival, after: nil)
    }
    recent.append(Double(arrival - lastArrival))
    if recent.count > 16 { recent.removeFirst() }
    let typical = interquartileMean
    let now = Double(arrival - origin)
    let steps = interval > 0 ? ((now - time) / interval).rounded() : 0
    if samples < 2 || abs(interval - typical) > 0.4 * typical || steps > 5 {
      if steps <= 5 { interval = typical }
      time = now
      samples = recent.count < 4 ? 1 : 2
    } else {
      follow(now, steps: steps)
    }
    return finish(origin + Int64(time), after: previous, arrival: arrival)
  }

  private mutating func follow(_ now: Double, steps: Double) {
    samples += 1
    let n = Double(samples)
    let settled = Self.settledGain
    let phaseGain = max(settled, 2 * (2 * n - 1) / (n * (n + 1)))
    let intervalGain = max(settled * settled / (2 - settled), 6 / (n * (n + 1)))
    let predicted = time + steps * interval
    let residual = now - predicted
    time = predicted + phaseGain * residual
    if steps > 0 { interval += intervalGain * residual / steps }
  }

  private mutating func finish(
    _ stamp: Int64, after previous: Int64?, arrival: Int64? = nil
  ) -> Int64 {
    var result = stamp
    if let previous { result = max(result, previous + Int64(max(1000, interval / 16))) }
    lastStamp = result
    lastArrival = arrival ?? stamp
    return result
  }

  /// Neither a lost sample nor a pair that arrives together moves it.
  private var interquartileMean: Double {
    let sorted = recent.sorted()
    let cut = sorted.count / 4
    let middle = sorted[cut..<(sorted.count - cut)]
    return middle.reduce(0, +) / Double(middle.count)
  }
}
