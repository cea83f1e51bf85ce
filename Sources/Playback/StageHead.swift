// SPDX-License-Identifier: Apache-2.0

internal import Geometry
internal import HeadTracking
private import Synchronization

/// The head as the stage knows it: tracked, recorded or not at all, and let go of smoothly.
///
/// ## Threading
/// `pose` is the audio thread's, real-time safe; `isFollowed` is for any thread.
final class StageHead: @unchecked Sendable {
  enum Origin {
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
  }

  init(_ origin: Origin) {
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
  var isFollowed: Bool {
    get { followed.load(ordering: .relaxed) }
    set { followed.store(newValue, ordering: .relaxed) }
  }

  /// Begins where it is wanted to be, without easing.
  func settle() { state.pointee.share = isFollowed ? 1 : 0 }

  /// - Parameters:
  ///   - time: when it is heard, CLOCK_MONOTONIC, ns.
  ///   - sourceSeconds: the moment in the source.
  func pose(heardAt time: Int64, sourceSeconds: Double) -> Quaternion {
    let share = advance(to: time)
    let pose = raw(time, sourceSeconds)
    if share >= 1 { return pose }
    if share <= 0 { return .identity }
    return .slerp(.identity, pose, share * share * (3 - 2 * share))
  }

  private func raw(_ time: Int64, _ sourceSeconds: Double) -> Quaternion {
    switch place {
    case .source(let source): source._withUnsafeGuaranteedRef { $0.pose(at: time) }
    case .recorded(let rows): rows.pose(atSeconds: sourceSeconds)
    case .none: .identity
    }
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
