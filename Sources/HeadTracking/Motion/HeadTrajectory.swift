// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The orientation of a head, `headToWorld`, over time.
public struct HeadTrajectory: @unchecked Sendable {
  /// Owns the rows, which never change. A row is a time and a pose.
  private final class Storage {
    let times: UnsafeMutablePointer<Double>
    let poses: UnsafeMutablePointer<Quaternion>

    init(_ times: [Double], _ poses: [Quaternion]) {
      self.times = .allocate(capacity: times.count)
      self.poses = .allocate(capacity: poses.count)
      self.times.initialize(from: times, count: times.count)
      self.poses.initialize(from: poses, count: poses.count)
    }

    deinit {
      times.deallocate()
      poses.deallocate()
    }
  }

  /// Pointers to the rows. An audio thread can copy this value without retaining an object. The
  /// pointers are valid as long as the trajectory or a copy of it exists.
  public struct Rows: BitwiseCopyable, @unchecked Sendable {
    let times: UnsafePointer<Double>
    let poses: UnsafePointer<Quaternion>
    /// The number of rows, at least one.
    public let count: Int

    /// Returns the pose at a time, interpolated (slerp) between rows. Before the first row and
    /// after the last row, the pose is constant.
    ///
    /// Real-time safe.
    @_noLocks
    public func pose(atSeconds time: Double) -> Quaternion {
      guard time > times[0] else { return poses[0] }
      guard time < times[count - 1] else { return poses[count - 1] }
      var (low, high) = (0, count - 1)
      while high - low > 1 {
        let middle = (low + high) / 2
        if times[middle] <= time { low = middle } else { high = middle }
      }
      let fraction = (time - times[low]) / (times[high] - times[low])
      return Quaternion.slerp(poses[low], poses[high], fraction)
    }
  }

  private let owner: Storage
  public let rows: Rows
  /// The number of rows, at least one.
  public var count: Int { rows.count }

  /// Creates a trajectory.
  ///
  /// - Parameters:
  ///   - times: the times in seconds, strictly increasing, at least one.
  ///   - poses: `headToWorld` of unit norm, one per time.
  public init(times: [Double], poses: [Quaternion]) {
    precondition(!times.isEmpty && times.count == poses.count)
    precondition(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times must rise")
    owner = Storage(times, poses)
    rows = Rows(
      times: UnsafePointer(owner.times), poses: UnsafePointer(owner.poses), count: times.count)
  }

  /// Creates the trajectory of a head that does not move.
  public init(_ pose: Quaternion) {
    self.init(times: [0], poses: [pose])
  }

  /// The times of the rows, in seconds.
  public var times: [Double] { Array(UnsafeBufferPointer(start: rows.times, count: count)) }
  /// The poses of the rows, `headToWorld`.
  public var poses: [Quaternion] { Array(UnsafeBufferPointer(start: rows.poses, count: count)) }

  /// Returns the pose at a time, interpolated (slerp) between rows. Before the first row and after
  /// the last row, the pose is constant.
  ///
  /// Real-time safe.
  @_noLocks
  public func pose(atSeconds time: Double) -> Quaternion { rows.pose(atSeconds: time) }
}
