// SPDX-License-Identifier: Apache-2.0

/// Gives the samples of a regular tracker regular times.
///
/// Arrivals jitter by the scheduler's and the bus's mood; the tracker's own clock does not. A
/// second-order loop follows it: phase and interval are corrected by a share of each residual,
/// with the gains of a growing memory at first (least squares over all samples so far) and of a
/// fading one later. Sources: F. Adriaensen, "Using a DLL to filter time", LAC 2005; E. Brookner,
/// "Tracking and Kalman Filtering Made Easy", 1998, ch. 1.
///
/// A sample can be late by much but early by no more than the jitter. So one that is late by most
/// of an interval is late and does not come after a lost one, a single late one moves the loop
/// little, and the times lie where the earliest arrivals do, never after the arrival itself.
struct SampleClock: Sendable {
  /// The tracker's sampling interval in nanoseconds; 0 before the second sample.
  private(set) var interval = 0.0
  private var time = 0.0
  private var origin: Int64 = 0
  private var lastStamp: Int64?
  private var lastArrival: Int64 = 0
  private var recent: [Double] = []
  private var samples = 0
  /// How early samples are in the mean where they are early, nanoseconds.
  private var earliness = 0.0
  /// Steps that were counted for lost samples, and may have been late ones.
  private var doubtful = 0.0
  /// Samples in a row that were far off, and at another interval.
  private var strayed = 0
  private var unlike = 0

  /// Share of a residual that moves the phase once the loop has settled: 20 samples of memory, and
  /// no less than 0.3 s.
  private static let settledGain = 0.05
  private static let memory = 0.3e9
  /// The earliest arrivals are before the mean one by so many times the mean earliness.
  private static let reach = 3.5

  /// The regular time of a sample that arrived at `arrival`; rises with every call, and is no later
  /// than the arrival unless two come at one moment.
  mutating func stamp(_ arrival: Int64) -> Int64 {
    guard let previous = lastStamp else {
      origin = arrival
      return finish(arrival, after: nil, arrival)
    }
    recent.append(Double(arrival - lastArrival))
    if recent.count > 16 { recent.removeFirst() }
    let typical = interquartileMean
    let now = Double(arrival - origin)
    let steps = interval > 0 ? self.steps(now - time) : 0
    unlike = abs(interval - typical) > 0.15 * typical ? unlike + 1 : 0
    let isOther = abs(interval - typical) > 0.4 * typical || unlike > 20 || strayed > 12
    if samples < 2 || isOther || steps > 5 {
      if steps <= 5 { interval = typical }
      time = now
      samples = recent.count < 4 ? 1 : 2
      (doubtful, strayed, unlike) = (0, 0, 0)
    } else {
      follow(now, steps: steps)
    }
    return finish(origin + Int64(time - Self.reach * earliness), after: previous, arrival)
  }

  /// Samples that were taken since the last one, of which all but one were lost.
  private mutating func steps(_ elapsed: Double) -> Double {
    if doubtful > 0, elapsed < 0.3 * interval {
      doubtful -= 1
      return 0
    }
    // Where jitter is small nothing comes early; where it is large, one late sample is likelier
    // than one lost.
    let spread = earliness / interval
    let limit = min(0.9, max(0.9 - 4 * spread, 0.5 + 5 * spread * spread, 0.55))
    let lost = max(0, (elapsed / interval - 1 - limit).rounded(.up))
    if lost > 0 { doubtful = min(5, lost) }
    return 1 + lost
  }

  private mutating func follow(_ now: Double, steps: Double) {
    samples += 1
    let n = Double(samples)
    let settled = min(Self.settledGain, interval / Self.memory)
    let phaseGain = max(settled, 2 * (2 * n - 1) / (n * (n + 1)))
    let intervalGain = max(settled * settled / (2 - settled), 6 / (n * (n + 1)))
    let predicted = time + steps * interval
    var residual = now - predicted
    let limit = max(4 * earliness, 0.02 * interval)
    if n > 12 {
      strayed = abs(residual) > limit ? strayed + 1 : 0
      // What is far too early is another clock and no jitter.
      let early = n > 100 ? min(-residual, limit) : -residual
      if early > 0 { earliness += max(0.01, 2 / n) * (early - earliness) }
      residual = min(residual, limit)
    }
    time = predicted + phaseGain * residual
    if steps > 0 { interval += intervalGain * residual / steps }
  }

  private mutating func finish(_ stamp: Int64, after previous: Int64?, _ arrival: Int64) -> Int64 {
    var result = min(stamp, arrival)
    if let previous {
      let next = previous + Int64(max(1000, interval / 16))
      result = max(result, min(next, max(arrival, previous + 1)))
    }
    lastStamp = result
    lastArrival = arrival
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
