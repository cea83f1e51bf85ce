// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The head pose `headToStage` as a function of stream time (when the sound is heard).
///
/// Beyond the newest sample, the pose follows that sample's forecast until the next sample is
/// overdue, then brakes to rest. A prediction error is corrected gradually.
///
/// The time by which a query is ahead of the present can differ from the look-ahead that
/// `prediction` specifies. The difference is smoothed and subtracted from the time of the query.
///
/// If samples stop, the pose holds until the newest sample is stale, then eases to the front over
/// `easeToFront`. When samples return, the pose eases back over `easeBack`, or faster after a short
/// gap.
///
/// If a query's time is before that of the previous query, or at least `passJump` after it, the
/// query counts as a jump. Its pose is not connected to the previous pose.
///
/// ## Threading
/// A value belongs to one thread. All functions are real-time safe.
struct HeadToStageTimeline: Sendable {
  /// Times are in nanoseconds, except `staleAfterIntervals`, which is a number of sampling
  /// intervals.
  struct Settings: Sendable {
    var staleAfter: Int64 = 120_000_000
    var staleAfterIntervals: Int64 = 5
    var easeToFront: Int64 = 1_000_000_000
    var easeBack: Int64 = 300_000_000
    /// Duration of the move to a front that the listener chose.
    var easeToNewFront: Int64 = 400_000_000
    /// Longest duration of a correction without `correctsQuickly`, unless 1.25 update intervals are
    /// longer. An update interval is the stream time between two successive queries that see new
    /// samples.
    var longestCorrection = 45_000_000.0
    /// Longest extrapolation beyond the newest sample, not counting the braking that follows.
    var maximumLookAhead: Int64 = 300_000_000
    /// Smallest advance of time from one query to the next that counts as a jump.
    var passJump: Int64 = 100_000_000

    static let `default` = Settings()

    /// Returns the age above which the newest sample counts as stale. Times are in nanoseconds.
    @_noLocks
    func staleLimit(_ interval: Int64) -> Int64 {
      max(staleAfter, staleAfterIntervals * interval)
    }
  }

  private enum Pending {
    case nothing
    case correction
    case ease(Int64)
  }

  /// A prediction error above this angle, in radians, counts as a leap.
  private static var leap: Double {
    @_noLocks get { 0.2 }
  }

  /// How much faster than the head a correction usually turns, in rad/s.
  private static var calm: Double {
    @_noLocks get { 2 }
  }

  private let settings: Settings
  private var history = RecentPoses()
  /// The newest sample. Reading it from `history` would copy every sample.
  private var newest = RecentPoses.none
  var prediction = PosePrediction.automatic
  /// Whether `quickTime` determines the duration of corrections.
  var correctsQuickly = false
  /// How far ahead of the present the queries are, minus the look-ahead from `prediction`, in
  /// nanoseconds; smoothed.
  private var excess = 0.0
  /// How far ahead of the present the last query or the end of the last pass was, in nanoseconds.
  private var lead: Int64 = 0
  /// The typical `lead` of earlier queries, in nanoseconds. It changes only when a sample arrives,
  /// so that braking begins at the same time for all queries between two samples.
  private var usualLead: Int64 = 0
  private var pending = Pending.nothing
  private var correction = Fade()
  private var comeback = Fade()
  private var isStale = false
  private var staleSince: Int64 = 0
  private var hasOutput = false
  private var lastTime: Int64 = 0
  private var lastOutput = Quaternion(w: 1, x: 0, y: 0, z: 0)
  private var lastUpdate: Int64 = 0
  /// Stream time at which the correction of the last leap ends.
  private var leapEnd: Int64 = 0
  private var updateInterval = 0.0

  init(settings: Settings = .default) {
    self.settings = settings
  }

  @_noLocks
  mutating func append(_ pose: StampedPose) {
    let previous = newest
    let gap = pose.time - previous.time
    if history.isEmpty || pose.reference != previous.reference {
      demand(ease: settings.easeBack)
      history.removeAll()
    } else if isStale || pose.breaks != previous.breaks {
      demand(ease: settings.easeBack)
      history.removeAll()
    } else if pose.fronts != previous.fronts {
      demand(ease: settings.easeToNewFront)
      history.removeAll()
    } else if gap > max(3 * pose.interval, 40_000_000) {
      demand(ease: max(50_000_000, min(gap, settings.easeBack)))
      history.removeAll()
    } else if case .nothing = pending {
      pending = .correction
    }
    isStale = false
    let change = lead - usualLead
    usualLead += abs(change) > 20_000_000 ? change : change / 8
    history.append(pose)
    newest = pose
  }

  /// Returns the head pose relative to the front of the stage. Times are in CLOCK_MONOTONIC
  /// nanoseconds.
  @_noLocks
  mutating func pose(at time: Int64, now: Int64) -> Quaternion {
    defer {
      lastTime = time
      hasOutput = true
    }
    guard !history.isEmpty else { return lastOutput }
    noteStaleness(time, now)
    lead = time - now
    connect(time, now)
    let pose = base(time) * comeback.smooth(time) * correction.linear(time)
    lastOutput = pose.normalized
    return lastOutput
  }

  @_noLocks
  private mutating func noteStaleness(_ time: Int64, _ now: Int64) {
    if isStale { return }
    guard now - newest.arrival > staleLimit else { return }
    isStale = true
    staleSince = time
  }

  /// The age above which the newest sample counts as stale, in nanoseconds.
  private var staleLimit: Int64 {
    @_noLocks get {
      settings.staleLimit(newest.interval)
    }
  }
}

// MARK: Continuity

extension HeadToStageTimeline {
  @_noLocks
  private mutating func demand(ease duration: Int64) {
    if case .ease(let other) = pending, other > duration { return }
    pending = .ease(duration)
  }

  /// Starts the pending fade from the last returned pose to the path of the new samples. A jump
  /// discards the fade instead.
  @_noLocks
  private mutating func connect(_ time: Int64, _ now: Int64) {
    let isForward = hasOutput && time >= lastTime && time - lastTime < settings.passJump
    if !isForward {
      correction = Fade()
      pending = .nothing
      excess = wantedExcess(time - now)
      return
    }
    if case .nothing = pending { return }
    // Adapt slowly to changes of up to 20 ms, because the times of the queries jitter.
    let change = wantedExcess(lastTime - now) - excess
    excess += abs(change) > 20_000_000 ? change : 0.1 * change
    let missing = base(lastTime).conjugate * lastOutput
    switch pending {
    case .nothing: return
    case .ease(let duration):
      correction = Fade()
      comeback = Fade(missing.rotationVector, from: lastTime, over: Double(duration))
    case .correction:
      let residual = (comeback.smooth(lastTime).conjugate * missing).rotationVector
      let size = realtime_sqrt((residual * residual).sum())
      let rate = newest.forecast.means[0]
      let speed = realtime_sqrt((rate * rate).sum())
      if correctsQuickly {
        _ = noteUpdate()
        correction = Fade(residual, from: lastTime, over: quickTime(size, speed: speed))
        break
      }
      // Correct at the head's own speed plus `calm`, or faster to finish within `timeToCorrect`.
      // Take at least 1.25 update intervals, so that the motion goes on if a sample is late.
      let wanted = min(timeToCorrect(size), size / (Self.calm + speed) * 1e9)
      let duration = max(1.25 * noteUpdate(), wanted)
      correction = Fade(residual, from: lastTime, over: duration)
    }
    pending = .nothing
  }

  /// Returns the duration of a quick correction, in nanoseconds: 1.5 sampling intervals, clamped to
  /// 15 ... 40 ms. For an error above 0.6 degrees plus the head's rotation in 4 ms, the duration is
  /// shorter in proportion, but at least 5 ms. The error is in radians, the head's speed in rad/s.
  @_noLocks
  private func quickTime(_ size: Double, speed: Double) -> Double {
    let usual = min(40e6, max(15e6, 1.5 * Double(newest.interval)))
    let expected = 0.0105 + 0.004 * speed
    return max(5e6, usual / max(1, size / expected))
  }

  /// Returns how long the correction of an error, in radians, may take, in nanoseconds. While a
  /// leap is being corrected, this is the time left until `leapEnd`, because what remains of the
  /// leap appears as a new error at each sample.
  @_noLocks
  private mutating func timeToCorrect(_ size: Double) -> Double {
    let left = Double(leapEnd - lastTime)
    if left > 0, left < settings.longestCorrection { return left }
    if size > Self.leap { leapEnd = lastTime + Int64(settings.longestCorrection) }
    return settings.longestCorrection
  }

  @_noLocks
  private func wantedExcess(_ lead: Int64) -> Double {
    let lead = max(0, lead)
    return Double(lead - prediction.lookAhead(lead))
  }

  /// Measures and returns the smoothed update interval, in nanoseconds, at least the sampling
  /// interval.
  @_noLocks
  private mutating func noteUpdate() -> Double {
    let own = Double(newest.interval)
    let measured = Double(min(max(lastTime - lastUpdate, 0), settings.passJump))
    lastUpdate = lastTime
    updateInterval += 0.2 * (measured - updateInterval)
    updateInterval = max(own, updateInterval)
    return updateInterval
  }
}

// MARK: Rendering again

extension HeadToStageTimeline {
  /// Begins a pass over queued sound that is rendered again. `played` is the pose at `start` as it
  /// was played. Times are in CLOCK_MONOTONIC nanoseconds.
  ///
  /// If an ease is pending, the pose eases from `played` to the new samples. An ease that has begun
  /// continues. Otherwise, the pose follows the newest samples at once.
  @_noLocks
  mutating func beginPass(from start: Int64, to end: Int64, played: Quaternion, now: Int64) {
    (lastTime, lastOutput, hasOutput) = (start, played, true)
    if history.isEmpty { return }
    noteStaleness(start, now)
    lead = end - now
    excess = wantedExcess(start - now)
    correction = Fade()
    if case .ease(let duration) = pending {
      let missing = base(start).conjugate * played
      comeback = Fade(missing.rotationVector, from: start, over: Double(duration))
    }
    pending = .nothing
  }

  /// The tracker's sampling interval, in nanoseconds: 0 before the first sample, then 20 ms until
  /// the interval is known.
  var sampleInterval: Int64 {
    @_noLocks get { history.isEmpty ? 0 : newest.interval }
  }

  /// Returns the pose in the current pass, without the correction of prediction errors.
  @_noLocks
  func truth(at time: Int64) -> Quaternion {
    if history.isEmpty { return lastOutput }
    return (base(time) * comeback.smooth(time)).normalized
  }
}

// MARK: The path through the samples

extension HeadToStageTimeline {
  /// Returns the pose on the path through the samples or, if they are stale, on the way to the
  /// front.
  @_noLocks
  private func base(_ time: Int64) -> Quaternion {
    let here = reach(time)
    guard isStale else { return here }
    let share = Fade.minimumJerk(Double(time - staleSince) / Double(settings.easeToFront))
    return Quaternion.slerp(here, Quaternion(w: 1, x: 0, y: 0, z: 0), share)
  }

  @_noLocks
  private func reach(_ time: Int64) -> Quaternion {
    let meant = time - Int64(excess)
    let ahead = Double(meant - newest.time) * 1e-9
    guard ahead > 0 else { return history.interpolate(meant) }
    return newest.foreseen(after: HeadToStageTimeline.braked(ahead, lookAhead))
  }

  /// The time from the newest sample to the start of braking, in seconds.
  private var lookAhead: Double {
    @_noLocks get {
      let update = Double(newest.interval) + updateInterval
      let asked = Double(max(0, prediction.lookAhead(usualLead))) + 1.25 * update
      return min(asked, Double(settings.maximumLookAhead)) * 1e-9
    }
  }

  /// Maps the seconds since the newest sample to the look-ahead of the forecast, in seconds. Beyond
  /// the limit, the motion decelerates to rest over 30 ms.
  @_noLocks
  private static func braked(_ seconds: Double, _ limit: Double) -> Double {
    guard seconds > limit else { return seconds }
    let beyond = min(seconds - limit, 0.030)
    return limit + beyond - beyond * beyond / 0.060
  }
}
