// SPDX-License-Identifier: Apache-2.0

/// The poses of the latest grid points as they were rendered, or rendered again.
///
/// ## Threading
/// For the audio thread.
struct PlayedPoses: ~Copyable, @unchecked Sendable {
  private let points: UnsafeMutablePointer<HeadToStageSource.Point>
  private let capacity: Int

  /// - Parameter points: how many poses are kept.
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
