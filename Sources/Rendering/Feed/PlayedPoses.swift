// SPDX-License-Identifier: Apache-2.0

/// The latest rendered poses, indexed by grid point.
///
/// ## Threading
/// Use it on the audio thread only.
struct PlayedPoses: ~Copyable, @unchecked Sendable {
  private let points: UnsafeMutablePointer<HeadToStageSource.Point>
  private let capacity: Int

  /// Allocates memory for the poses of the latest `points` grid points.
  init(points count: Int) {
    capacity = count
    points = .allocate(capacity: count)
    points.initialize(repeating: HeadToStageSource.Point(), count: count)
  }

  deinit { points.deallocate() }

  subscript(point: Int) -> HeadToStageSource.Point {
    get { points[point % capacity] }
    nonmutating set { points[point % capacity] = newValue }
  }
}
