// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The head's pose `headToStage` as a function of stream time, made from the samples known so far.
///
/// Between samples the pose is interpolated. Ahead of the newest it goes on as that sample's
/// forecast says until the next one is overdue, then comes to rest: it never waits, and never runs
/// away. What a new sample proves wrong is taken back over about one update interval, so that the
/// pose has no steps.
///
/// A question for a moment ahead of the present is answered as far ahead as `prediction` allows;
/// what is beyond that counts as present. The steps of the questions stay the steps of the motion.
///
/// Samples older than `staleAfter` hold the pose; then it eases to the front within
/// `easeToFront`, and back within `easeBack` when samples return.
///
/// Time goes forward while the stream is written. Asking for an earlier time, or one far ahead,
/// begins a new pass (a rewritten queue, a seek), which starts at the newest truth.
///
/// ## Threading
/// A value that belongs to one thread; all functions are real-time safe.
struct HeadToStageTimeline: Sendable {
  /// All in nanoseconds.
  struct Settings: Sendable {
    var staleAfter: Int64 = 120_000_000
    var staleAfterIntervals: Int64 = 5
    var easeToFront: Int64 = 1_000_000_000
    var easeBack: Int64 = 300_000_000
    /// The stage comes to a front the listener chose.
    var easeToNewFront: Int64 = 400_000_000
    /// What was predicted wrongly is taken back within this, or within an update interval.
    var longestCorrection = 45_000_000.0
    /// The pose rests this long after the newest sample at the latest.
    var maximumLookAhead: Int64 = 300_000_000
    /// A distance between two questions that is a jump, not a step.
    var passJump: Int64 = 100_000_000

    static let `default` = Settings()

    /// How old the newest sample of a tracker of this interval may be.
    @_noLocks
    func staleLimit(_ interval: Int64) -> Int64 {
      max(staleAfter, staleAfterIntervals * interval)
    }
  }

  /// What the next question must make continuous.
  private enum Pending {
    case nothing
    case correction
    case ease(Int64)
  }

  /// A wrong prediction by more than 11 degrees is one, radians.
  private static var leap: Double {
    @_noLocks get { 0.2 }
  }

  /// rad/s at which a wrong prediction is taken back while the head rests.
  private static var calm: Double {
    @_noLocks get { 2 }
  }

  private let settings: Settings
  private var history = RecentPoses()
  /// A still head at time 0 when there is no sample. By itself, because who asks the history for it
  /// copies all samples.
  private var newest = RecentPoses.none
  /// How far ahead of the present is predicted.
  var prediction = PosePrediction.automatic
  /// What the questions ask beyond the prediction, nanoseconds.
  private var excess = 0.0
  /// How far ahead of the present the last question was, nanoseconds.
  private var lead: Int64 = 0
  /// How far the questions before the newest sample were, about; while no sample comes it stays,
  /// so that the way to rest is the same for all of them.
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
  /// Stream time by which the last leap is made up for.
  private var leapEnd: Int64 = 0
  private var updateInterval = 0.0

  init(settings: Settings = .default) {
    self.settings = settings
  }

  /// Adds the next sample.
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

  /// The head's pose relative to the front of the stage.
  ///
  /// - Parameters:
  ///   - time: the moment the sound is heard, CLOCK_MONOTONIC nanoseconds.
  ///   - now: the present moment, by which samples are fresh or stale.
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

  /// How old the newest sample may be, nanoseconds.
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

  /// Joins what new samples say to what was played.
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
    // Slowly, because the moments at which blocks are asked for jitter.
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
      // No faster than the head and two degrees in 20 ms, unless that takes long. An interval and a
      // quarter at least, so that a late sample does not stop the motion.
      let wanted = min(timeToCorrect(size), size / (Self.calm + speed) * 1e9)
      let duration = max(1.25 * noteUpdate(), wanted)
      correction = Fade(residual, from: lastTime, over: duration)
    }
    pending = .nothing
  }

  /// Nanoseconds for what is wrong by `size` radians. A leap is over when the time it was given is,
  /// though each sample looks at what is left of it.
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

  /// Nanoseconds of stream time between two updates: a block may span several samples.
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
  /// Begins a pass over a piece of a queue that is rendered again.
  ///
  /// What must be eased (a new front, a tracker that comes back) eases from the pose as played; all
  /// else is the newest truth at once, and the way there is the caller's.
  ///
  /// - Parameters:
  ///   - start: when the first frame is heard, CLOCK_MONOTONIC nanoseconds.
  ///   - end: when the last one is heard.
  ///   - played: the pose at `start` as it was played.
  ///   - now: the present moment.
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

  /// Of the tracker, nanoseconds; 0 before the first sample.
  var sampleInterval: Int64 {
    @_noLocks get { history.isEmpty ? 0 : newest.interval }
  }

  /// The newest truth of a pass at a time.
  @_noLocks
  func truth(at time: Int64) -> Quaternion {
    if history.isEmpty { return lastOutput }
    return (base(time) * comeback.smooth(time)).normalized
  }
}

// MARK: The path through the samples

extension HeadToStageTimeline {
  /// The path, or the way from its last known point to the front.
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

  /// Seconds after the newest sample at which the next one is overdue.
  private var lookAhead: Double {
    @_noLocks get {
      let update = Double(newest.interval) + updateInterval
      let asked = Double(max(0, prediction.lookAhead(usualLead))) + 1.25 * update
      return min(asked, Double(settings.maximumLookAhead)) * 1e-9
    }
  }

  /// Full speed up to the limit, then even braking for 30 ms.
  @_noLocks
  private static func braked(_ seconds: Double, _ limit: Double) -> Double {
    guard seconds > limit else { return seconds }
    let beyond = min(seconds - limit, 0.030)
    return limit + beyond - beyond * beyond / 0.060
  }
}
