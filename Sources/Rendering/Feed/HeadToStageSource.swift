// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry
package import HeadTracking
private import Synchronization

/// Supplies the pose to render, `headToStage`.
///
/// The stage either stands still in the world or is fixed to the head.
///
/// ## Threading
/// Use `point`, `beginPass`, `sampleSeconds` and `pointOfPass` on the audio thread only; they are
/// real-time safe. Any thread may use `isFollowed`.
package final class HeadToStageSource: @unchecked Sendable {
  package enum Origin {
    case source(HeadPoseSource)
    case recorded(HeadTrajectory)
    case none
  }

  private let origin: Origin
  private let place: Place
  private let followed = Atomic(true)
  private let state: UnsafeMutablePointer<State>
  /// The time in which `share` changes from 0 to 1 or back, in seconds.
  private static let easeSeconds = 0.3

  /// The origin, in a form that the audio thread can read without a retain.
  private enum Place {
    case source(Unmanaged<HeadPoseSource>)
    case recorded(HeadTrajectory.Rows)
    case none
  }

  private struct State {
    /// See `Point.share`.
    var share = 1.0
    var lastTime: Int64 = 0
    /// The `start` of the latest `beginPass`, in CLOCK_MONOTONIC nanoseconds.
    var passStart: Int64 = 0
    /// The share that was played at `passStart`.
    var passShare = 1.0
  }

  /// A head pose, and how far the stage compensates for it.
  struct Point {
    var headToWorld = Quaternion.identity
    /// How far the stage compensates for the head: 0 if the stage is fixed to the head, 1 if the
    /// stage stands still.
    var share = 1.0

    /// The pose to render.
    var headToStage: Quaternion {
      @_noLocks get {
        if share >= 1 { return headToWorld }
        if share <= 0 { return .identity }
        return .slerp(.identity, headToWorld, share * share * (3 - 2 * share))
      }
    }
  }

  /// The time set by a test, in CLOCK_MONOTONIC nanoseconds; 0 for the real clock.
  private let madeNow = Atomic<Int64>(0)

  package init(_ origin: Origin) {
    self.origin = origin
    switch origin {
    case .source(let source): place = .source(.passUnretained(source))
    case .recorded(let trajectory): place = .recorded(trajectory.rows)
    case .none: place = .none
    }
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit { state.deallocate() }

  /// Whether the stage stands still. If false, it is fixed to the head. A change is eased over
  /// 0.3 s.
  package var isFollowed: Bool {
    get { followed.load(ordering: .relaxed) }
    set { followed.store(newValue, ordering: .relaxed) }
  }

  /// Applies `isFollowed` without easing. Call this function before rendering begins.
  package func settle() { state.pointee.share = isFollowed ? 1 : 0 }

  /// The current time, in CLOCK_MONOTONIC nanoseconds. Only tests set it.
  var now: Int64 {
    get {
      let made = madeNow.load(ordering: .relaxed)
      return made == 0 ? monotonic_nanoseconds() : made
    }
    set { madeNow.store(newValue, ordering: .relaxed) }
  }

  /// Returns the point for the sound that is heard at `time`, in CLOCK_MONOTONIC nanoseconds. A
  /// recorded trajectory is read at `sourceSeconds` instead. Successive calls must be in order of
  /// time.
  func point(heardAt time: Int64, sourceSeconds: Double) -> Point {
    let share = advance(to: time)
    return Point(headToWorld: headToWorld(time, sourceSeconds), share: share)
  }

  private func headToWorld(_ time: Int64, _ sourceSeconds: Double) -> Quaternion {
    switch place {
    case .source(let source):
      source._withUnsafeGuaranteedRef { $0.pose(at: time, now: now) }
    case .recorded(let rows): rows.pose(atSeconds: sourceSeconds)
    case .none: .identity
    }
  }

  // MARK: Rendering again

  /// Whether later samples from the tracker can change the pose for a given time.
  package var becomesKnown: Bool {
    if case .source = place { true } else { false }
  }

  /// Begins a pass, which renders a window of the queue again. Times are CLOCK_MONOTONIC
  /// nanoseconds.
  ///
  /// - Parameters:
  ///   - start: when the last grid point that keeps its pose is heard.
  ///   - end: when the last grid point of the pass is heard.
  ///   - played: the point that was played at `start`.
  func beginPass(from start: Int64, to end: Int64, played: Point) {
    state.pointee.passStart = start
    state.pointee.passShare = played.share
    if case .source(let source) = place {
      source._withUnsafeGuaranteedRef {
        $0.beginPass(from: start, to: end, played: played.headToWorld, now: now)
      }
    }
  }

  /// The tracker's sample interval, in seconds; 0 without a tracker and before its first sample.
  var sampleSeconds: Double {
    guard case .source(let source) = place else { return 0 }
    return source._withUnsafeGuaranteedRef { Double($0.sampleIntervalOfPass) * 1e-9 }
  }

  /// Returns the point for the frame of the pass that is heard at `time`, in CLOCK_MONOTONIC
  /// nanoseconds. The point has the newest pose.
  func pointOfPass(heardAt time: Int64) -> Point {
    var point = Point()
    if case .source(let source) = place {
      point.headToWorld = source._withUnsafeGuaranteedRef { $0.poseOfPass(at: time) }
    }
    let step = Double(time - state.pointee.passStart) * 1e-9 / Self.easeSeconds
    point.share = min(1, max(0, state.pointee.passShare + (isFollowed ? step : -step)))
    return point
  }

  private func advance(to time: Int64) -> Double {
    let elapsed = Double(max(0, min(time - state.pointee.lastTime, 100_000_000))) * 1e-9
    state.pointee.lastTime = time
    let step = elapsed / Self.easeSeconds
    let share = state.pointee.share + (isFollowed ? step : -step)
    state.pointee.share = min(1, max(0, share))
    return state.pointee.share
  }
}
