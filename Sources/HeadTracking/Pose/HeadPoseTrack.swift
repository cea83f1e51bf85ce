// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The head's pose as a function of stream time, made from the samples known so far.
///
/// Between samples the pose is interpolated. Ahead of the newest it goes on with the gyroscope (or
/// the last samples' speed) until the next one is overdue, then comes to rest: it never waits, and
/// never runs away. What a new sample proves wrong is taken back over about one update interval,
/// so that the pose has no steps.
///
/// A question for a moment ahead of the present is answered for at most `prediction` ahead; what
/// is beyond that counts as present. The steps of the questions stay the steps of the motion.
///
/// Samples older than `staleAfter` hold the pose; then it eases to the front within
/// `easeToFront`, and back within `easeBack` when samples return.
///
/// Time goes forward while the stream is written. Asking for an earlier time, or one far ahead,
/// begins a new pass (a rewritten queue, a seek), which starts at the newest truth.
///
/// ## Threading
/// A value that belongs to one thread; all functions are real-time safe.
struct HeadPoseTrack: Sendable {
  /// All in nanoseconds.
  struct Settings: Sendable {
    var staleAfter: Int64 = 120_000_000
    var staleAfterIntervals: Int64 = 5
    var easeToFront: Int64 = 1_000_000_000
    var easeBack: Int64 = 300_000_000
    /// How far ahead of the present a gyroscope is trusted; without one it is 0.
    var prediction: Int64 = 20_000_000
    /// The pose rests this long after the newest sample at the latest.
    var maximumLookAhead: Int64 = 80_000_000
    /// A distance between two questions that is a jump, not a step.
    var passJump: Int64 = 100_000_000

    static let `default` = Settings()
  }

  /// What the next question must make continuous.
  private enum Pending {
    case nothing
    case correction
    case ease(Int64)
  }

  /// 1000 degrees a second; two samples further apart than that are a leap, not a motion.
  private static var fastestHead: Double {
    @_noLocks get { 17.5 }
  }

  private let settings: Settings
  private var history = PoseHistory()
  private var velocity = SIMD3<Double>(0, 0, 0)
  /// What the questions ask beyond the prediction, nanoseconds.
  private var excess = 0.0
  /// Turns the front of the tracker's frame to the front of the stage.
  private var toFront = Quaternion(w: 1, x: 0, y: 0, z: 0)
  private var pending = Pending.nothing
  private var correction = Fade()
  private var comeback = Fade()
  private var isStale = false
  private var staleSince: Int64 = 0
  private var hasOutput = false
  private var lastTime: Int64 = 0
  private var lastOutput = Quaternion(w: 1, x: 0, y: 0, z: 0)
  private var lastUpdate: Int64 = 0
  private var updateInterval = 0.0

  init(settings: Settings = .default) {
    self.settings = settings
  }

  /// Adds the next sample.
  @_noLocks
  mutating func append(_ pose: StampedPose) {
    let previous = history.newest
    let gap = pose.time - previous.time
    if history.isEmpty || pose.reference != previous.reference {
      toFront = HeadPoseTrack.turnToFront(pose.headToWorld)
      demand(ease: settings.easeBack)
      history.removeAll()
    } else if isStale || pose.breaks != previous.breaks {
      demand(ease: settings.easeBack)
      history.removeAll()
    } else if gap > max(3 * pose.interval, 40_000_000) {
      demand(ease: max(50_000_000, min(gap, settings.easeBack)))
      history.removeAll()
    } else if case .nothing = pending {
      pending = .correction
    }
    isStale = false
    history.append(pose)
    estimateVelocity(pose)
  }

  /// Makes the direction the head looks in the front: yaw only, at once. Pitch and roll are
  /// gravity's and stay true.
  @_noLocks
  mutating func recenter() {
    guard !history.isEmpty else { return }
    toFront = HeadPoseTrack.turnToFront(reach(hasOutput ? lastTime : history.newest.time))
    correction = Fade()
    comeback = Fade()
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
    if !isStale, now - history.newest.arrival > staleLimit {
      isStale = true
      staleSince = time
    }
    connect(time, now)
    let pose = base(time) * comeback.smooth(time) * correction.linear(time)
    lastOutput = (toFront * pose).normalized
    return lastOutput
  }

  /// How old the newest sample may be, nanoseconds.
  private var staleLimit: Int64 {
    @_noLocks get {
      max(settings.staleAfter, settings.staleAfterIntervals * history.newest.interval)
    }
  }
}

// MARK: Continuity

extension HeadPoseTrack {
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
    let missing = base(lastTime).conjugate * (toFront.conjugate * lastOutput)
    switch pending {
    case .nothing: return
    case .ease(let duration):
      correction = Fade()
      comeback = Fade(missing.rotationVector, from: lastTime, over: Double(duration))
    case .correction:
      let residual = (comeback.smooth(lastTime).conjugate * missing).rotationVector
      let size = realtime_sqrt((residual * residual).sum())
      // A quarter more than an interval, so that a late sample does not stop the motion.
      let duration = max(1.25 * noteUpdate(), size / (2 * Self.fastestHead) * 1e9)
      correction = Fade(residual, from: lastTime, over: duration)
    }
    pending = .nothing
  }

  @_noLocks
  private func wantedExcess(_ lead: Int64) -> Double {
    Double(max(0, lead - (history.newest.hasVelocity ? settings.prediction : 0)))
  }

  /// Nanoseconds of stream time between two updates: a block may span several samples.
  @_noLocks
  private mutating func noteUpdate() -> Double {
    let own = Double(history.newest.interval)
    let measured = Double(min(max(lastTime - lastUpdate, 0), settings.passJump))
    lastUpdate = lastTime
    updateInterval += 0.2 * (measured - updateInterval)
    updateInterval = max(own, updateInterval)
    return updateInterval
  }
}

// MARK: The path through the samples

extension HeadPoseTrack {
  /// The path, or the way from its last known point to the front.
  @_noLocks
  private func base(_ time: Int64) -> Quaternion {
    let here = reach(time)
    guard isStale else { return here }
    let share = Fade.minimumJerk(Double(time - staleSince) / Double(settings.easeToFront))
    return Quaternion.slerp(here, toFront.conjugate, share)
  }

  @_noLocks
  private func reach(_ time: Int64) -> Quaternion {
    let newest = history.newest
    let meant = time - Int64(excess)
    let ahead = Double(meant - newest.time) * 1e-9
    guard ahead > 0 else { return history.interpolate(meant) }
    return newest.headToWorld
      * Quaternion(rotationVector: velocity * HeadPoseTrack.braked(ahead, lookAhead))
  }

  /// Seconds after the newest sample at which the next one is overdue.
  private var lookAhead: Double {
    @_noLocks get {
      let prediction = history.newest.hasVelocity ? Double(settings.prediction) : 0
      let update = Double(history.newest.interval) + updateInterval
      return min(prediction + 1.25 * update, Double(settings.maximumLookAhead)) * 1e-9
    }
  }

  /// Full speed up to the limit, then even braking for 30 ms.
  @_noLocks
  private static func braked(_ seconds: Double, _ limit: Double) -> Double {
    guard seconds > limit else { return seconds }
    let beyond = min(seconds - limit, 0.030)
    return limit + beyond - beyond * beyond / 0.060
  }

  @_noLocks
  private mutating func estimateVelocity(_ pose: StampedPose) {
    // Over some 10 ms, so that a fast tracker's last digit is not taken for speed.
    velocity = pose.hasVelocity ? pose.angularVelocity : history.velocity(over: 9_000_000)
    let speed = realtime_sqrt((velocity * velocity).sum())
    if !pose.hasVelocity && speed > Self.fastestHead { velocity = SIMD3(0, 0, 0) }
    if speed > 2 * Self.fastestHead { velocity *= 2 * Self.fastestHead / speed }
  }

  /// The inverse of the yaw: where the nose points on the horizon, or, looking straight up or
  /// down, the turn about the vertical.
  @_noLocks
  private static func turnToFront(_ pose: Quaternion) -> Quaternion {
    let nose = pose.rotate(SIMD3(1, 0, 0))
    let isLevel = nose.x * nose.x + nose.y * nose.y > 0.01
    let yaw = isLevel ? realtime_atan2(nose.y, nose.x) : 2 * realtime_atan2(pose.z, pose.w)
    return Quaternion(w: realtime_cos(yaw / 2), x: 0, y: 0, z: -realtime_sin(yaw / 2))
  }
}
