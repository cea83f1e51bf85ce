// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry
package import HeadTracking
private import Synchronization

/// The pose that is rendered, `headToStage`: of a tracked or recorded head, or of none.
///
/// The stage stands still in the room, or is fixed to the head; it goes from one to the other
/// smoothly.
///
/// ## Threading
/// `point` and the passes are the audio thread's, real-time safe; `isFollowed` is for any thread.
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
  /// Seconds in which the stage lets go of the room or takes hold of it again.
  private static let easeSeconds = 0.3

  /// Where the origin's pose is, for the audio thread: taking it out of `origin` would retain it.
  private enum Place {
    case source(Unmanaged<HeadPoseSource>)
    case recorded(HeadTrajectory.Rows)
    case none
  }

  private struct State {
    /// 1 where the stage follows the room, 0 where it is fixed to the head.
    var share = 1.0
    var lastTime: Int64 = 0
    /// Of a piece that is rendered again.
    var passStart: Int64 = 0
    var passShare = 1.0
  }

  /// What is heard at one moment.
  struct Point {
    /// The head's own pose.
    var headToWorld = Quaternion.identity
    /// How much of it the stage stands still against, 0 to 1.
    var share = 1.0

    /// What is rendered: the head's pose against the stage.
    var headToStage: Quaternion {
      @_noLocks get {
        if share >= 1 { return headToWorld }
        if share <= 0 { return .identity }
        return .slerp(.identity, headToWorld, share * share * (3 - 2 * share))
      }
    }
  }

  /// The present, for tests that make their own: CLOCK_MONOTONIC, ns; 0 for the real one.
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

  /// False: the stage is fixed to the head.
  package var isFollowed: Bool {
    get { followed.load(ordering: .relaxed) }
    set { followed.store(newValue, ordering: .relaxed) }
  }

  /// Begins where it is wanted to be, without easing.
  package func settle() { state.pointee.share = isFollowed ? 1 : 0 }

  /// The present, CLOCK_MONOTONIC, ns; set by tests only.
  var now: Int64 {
    get {
      let made = madeNow.load(ordering: .relaxed)
      return made == 0 ? monotonic_nanoseconds() : made
    }
    set { madeNow.store(newValue, ordering: .relaxed) }
  }

  /// - Parameters:
  ///   - time: when it is heard, CLOCK_MONOTONIC, ns.
  ///   - sourceSeconds: the moment in the source.
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

  /// Whether more becomes known of the head after it was asked for.
  package var becomesKnown: Bool {
    if case .source = place { true } else { false }
  }

  /// Begins a pass over a piece of the queue that is rendered again, from what was played at its
  /// start.
  func beginPass(from start: Int64, to end: Int64, played: Point) {
    state.pointee.passStart = start
    state.pointee.passShare = played.share
    if case .source(let source) = place {
      source._withUnsafeGuaranteedRef {
        $0.beginPass(from: start, to: end, played: played.headToWorld, now: now)
      }
    }
  }

  /// Seconds between two samples of the tracker; 0 before the first one.
  var sampleSeconds: Double {
    guard case .source(let source) = place else { return 0 }
    return source._withUnsafeGuaranteedRef { Double($0.sampleIntervalOfPass) * 1e-9 }
  }

  /// The newest truth in the pass.
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
