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

  private let owner: Storage
  private let rowTimes: UnsafePointer<Double>
  private let rowPoses: UnsafePointer<Quaternion>
  /// Rows, at least one.
  public let count: Int

  /// - Parameters:
  ///   - times: seconds, rising, at least one.
  ///   - poses: `headToWorld` of unit norm, as many.
  public init(times: [Double], poses: [Quaternion]) {
    precondition(!times.isEmpty && times.count == poses.count)
    precondition(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times must rise")
    owner = Storage(times, poses)
    rowTimes = UnsafePointer(owner.times)
    rowPoses = UnsafePointer(owner.poses)
    count = times.count
  }

  /// A head that does not move.
  public init(_ pose: Quaternion) {
    self.init(times: [0], poses: [pose])
  }

  /// The rows' times in seconds.
  public var times: [Double] { Array(UnsafeBufferPointer(start: rowTimes, count: count)) }
  /// The rows' `headToWorld`.
  public var poses: [Quaternion] { Array(UnsafeBufferPointer(start: rowPoses, count: count)) }

  /// The pose at a time: slerp between rows, the first before them, the last after them.
  ///
  /// Real-time safe; the search takes log2(`count`) steps.
  @_noLocks
  public func pose(atSeconds time: Double) -> Quaternion {
    guard time > rowTimes[0] else { return rowPoses[0] }
    guard time < rowTimes[count - 1] else { return rowPoses[count - 1] }
    var (low, high) = (0, count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if rowTimes[middle] <= time { low = middle } else { high = middle }
    }
    let fraction = (time - rowTimes[low]) / (rowTimes[high] - rowTimes[low])
    return Quaternion.slerp(rowPoses[low], rowPoses[high], fraction)
  }
}
