// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// A head's orientation over time, known at rising moments.
public struct HeadTrajectory: @unchecked Sendable {
  /// Owns the rows; never changed after it is made.
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

  /// The rows without their owner, so that an audio thread that takes a copy retains nothing. Valid
  /// as long as the trajectory, or a copy of it, lives.
  public struct Rows: BitwiseCopyable, @unchecked Sendable {
    let times: UnsafePointer<Double>
    let poses: UnsafePointer<Quaternion>
    /// At least one.
    public let count: Int

    /// The pose at a time: slerp between rows, the first before them, the last after them.
    ///
    /// Real-time safe; the search takes log2(`count`) steps.
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
  /// Rows, at least one.
  public var count: Int { rows.count }

  /// - Parameters:
  ///   - times: seconds, rising, at least one.
  ///   - poses: `headToWorld` of unit norm, as many.
  public init(times: [Double], poses: [Quaternion]) {
    precondition(!times.isEmpty && times.count == poses.count)
    precondition(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times must rise")
    owner = Storage(times, poses)
    rows = Rows(
      times: UnsafePointer(owner.times), poses: UnsafePointer(owner.poses), count: times.count)
  }

  /// A head that does not move.
  public init(_ pose: Quaternion) {
    self.init(times: [0], poses: [pose])
  }

  /// The rows' times in seconds.
  public var times: [Double] { Array(UnsafeBufferPointer(start: rows.times, count: count)) }
  /// The rows' `headToWorld`.
  public var poses: [Quaternion] { Array(UnsafeBufferPointer(start: rows.poses, count: count)) }

  /// The pose at a time: slerp between rows, the first before them, the last after them.
  ///
  /// Real-time safe; the search takes log2(`count`) steps.
  @_noLocks
  public func pose(atSeconds time: Double) -> Quaternion { rows.pose(atSeconds: time) }
}
