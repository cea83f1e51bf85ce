// SPDX-License-Identifier: Apache-2.0

/// Assigns nearly evenly spaced times to the samples of a tracker with a constant sampling rate.
///
/// A second-order loop follows the tracker's clock. It corrects phase and interval by fractions of
/// each residual (arrival minus predicted arrival). At first, the memory grows (least squares over
/// all samples so far); later, the loop has constant Benedict-Bordner gains. Sources: F.
/// Adriaensen, "Using a DLL to filter time", LAC 2005; E. Brookner, "Tracking and Kalman Filtering
/// Made Easy", 1998, ch. 1.
///
/// A late sample counts as delayed if its lateness is at most a limit. The limit is 0.55 to 0.9
/// intervals, depending on the jitter. Beyond the limit, samples before the late sample count as
/// lost. The times match the earliest arrivals, not the mean arrivals.
struct SampleClock: Sendable {
  /// The tracker's sampling interval in nanoseconds; 0 until it is known.
  private(set) var interval = 0.0
  private var time = 0.0
  private var origin: Int64 = 0
  private var lastStamp: Int64?
  private var lastArrival: Int64 = 0
  private var recent: [Double] = []
  private var samples = 0
  /// The mean time by which early samples precede the loop's prediction, in nanoseconds.
  private var earliness = 0.0
  /// The number of samples that count as lost but may still arrive, at most 5.
  private var doubtful = 0.0
  /// The number of consecutive samples with a large residual.
  private var strayed = 0
  /// The number of consecutive samples at which the loop's interval differed from the interquartile
  /// mean of the recent intervals by more than 15 percent of that mean.
  private var unlike = 0

  /// Largest fraction of a residual by which the settled loop corrects the phase. It corresponds to
  /// a memory of 20 samples.
  private static let settledGain = 0.05
  /// Shortest memory of the settled loop, in nanoseconds: 0.3 s.
  private static let memory = 0.3e9
  /// With at least this number of recent intervals, a single pause hardly affects the interquartile
  /// mean.
  private static let manyIntervals = 8
  /// The earliest arrivals are assumed to precede the mean arrivals by this multiple of
  /// `earliness`.
  private static let reach = 3.5

  /// Returns the regular time of a sample, in nanoseconds. The time increases with every call.
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
      // After a pause (more than 5 steps), keep the interval unless the samples contradict it and
      // there are many recent intervals. With many, the pause hardly changes their mean.
      if steps <= 5 || isOther && recent.count >= Self.manyIntervals { interval = typical }
      time = now
      samples = recent.count < 4 ? 1 : 2
      (doubtful, strayed, unlike) = (0, 0, 0)
    } else {
      follow(now, steps: steps)
    }
    return finish(origin + Int64(time - Self.reach * earliness), after: previous, arrival)
  }

  /// Returns the number of sampling intervals since the last sample; 0 for a late sample that was
  /// counted as lost.
  private mutating func steps(_ elapsed: Double) -> Double {
    if doubtful > 0, elapsed < 0.3 * interval {
      doubtful -= 1
      return 0
    }
    // `limit` is the lateness, in intervals, above which a sample before this one counts as lost.
    // With little jitter, the limit is high, because the lateness after a lost sample is near 1.
    // With much jitter, it is high, because delayed samples are likelier than lost ones.
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
      // A sample that is much too early indicates a jump of the tracker's clock, not jitter.
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

  /// The interquartile mean of the recent intervals, in nanoseconds.
  private var interquartileMean: Double {
    let sorted = recent.sorted()
    let cut = sorted.count / 4
    let middle = sorted[cut..<(sorted.count - cut)]
    return middle.reduce(0, +) / Double(middle.count)
  }
}
