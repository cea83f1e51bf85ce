// SPDX-License-Identifier: Apache-2.0

import Geometry
import Synchronization

/// The way of poses from the tracker's thread to the audio thread: one writer, one reader, neither
/// ever waits.
///
/// The writer goes on over the oldest poses when the reader is late (a paused player), because the
/// newest are those that matter. Each slot carries the number of the pose in it (a seqlock), so
/// that a reader who is overtaken in the middle of a slot knows, drops what it read and goes on
/// with a newer one. All words are atomic: an overtaken read is stale, never undefined.
struct PoseRing: @unchecked Sendable {
  /// Poses the ring holds, a power of two.
  let capacity: Int
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let written: UnsafeMutablePointer<Atomic<Int>>
  private static let stride = 28

  init(capacity: Int = 256) {
    precondition(capacity > 1 && capacity & (capacity - 1) == 0)
    self.capacity = capacity
    words = .allocate(capacity: capacity * Self.stride)
    for index in 0..<capacity * Self.stride { (words + index).initialize(to: Atomic(0)) }
    written = .allocate(capacity: 1)
    written.initialize(to: Atomic(0))
  }

  func deallocate() {
    words.deinitialize(count: capacity * Self.stride).deallocate()
    written.deinitialize(count: 1).deallocate()
  }

  /// Adds a pose. One thread only.
  @_noLocks
  func push(_ pose: StampedPose) {
    let number = written.pointee.load(ordering: .relaxed)
    let slot = words + (number & (capacity - 1)) * Self.stride
    // Odd while the slot is being written.
    slot[0].store(UInt64(2 * number + 1), ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    slot[1].store(UInt64(bitPattern: pose.time), ordering: .relaxed)
    slot[2].store(UInt64(bitPattern: pose.arrival), ordering: .relaxed)
    slot[3].store(UInt64(bitPattern: pose.interval), ordering: .relaxed)
    slot[4].store(pose.headToWorld.w.bitPattern, ordering: .relaxed)
    slot[5].store(pose.headToWorld.x.bitPattern, ordering: .relaxed)
    slot[6].store(pose.headToWorld.y.bitPattern, ordering: .relaxed)
    slot[7].store(pose.headToWorld.z.bitPattern, ordering: .relaxed)
    slot[8].store(pose.angularVelocity.x.bitPattern, ordering: .relaxed)
    slot[9].store(pose.angularVelocity.y.bitPattern, ordering: .relaxed)
    slot[10].store(pose.angularVelocity.z.bitPattern, ordering: .relaxed)
    let flags =
      (pose.hasVelocity ? 1 : 0) | UInt64(pose.reference) << 16 | UInt64(pose.breaks) << 32
      | UInt64(pose.fronts) << 48
    slot[11].store(flags, ordering: .relaxed)
    for index in 0..<5 {
      let mean = pose.forecast.means[index]
      slot[12 + 3 * index].store(mean.x.bitPattern, ordering: .relaxed)
      slot[13 + 3 * index].store(mean.y.bitPattern, ordering: .relaxed)
      slot[14 + 3 * index].store(mean.z.bitPattern, ordering: .relaxed)
    }
    slot[27].store(UInt64(bitPattern: pose.ready), ordering: .relaxed)
    slot[0].store(UInt64(2 * number + 2), ordering: .releasing)
    written.pointee.store(number + 1, ordering: .releasing)
  }

  /// The next pose for a reader that has seen `position` poses, which is moved on; nil when there
  /// is none. One thread only.
  @_noLocks
  func pop(_ position: inout Int) -> StampedPose? {
    while true {
      let end = written.pointee.load(ordering: .acquiring)
      guard position < end else { return nil }
      // Half a ring of room keeps the writer away while a late reader catches up.
      if end - position > capacity { position = end - capacity / 2 }
      if let pose = read(position) {
        position += 1
        return pose
      }
      position = max(position + 1, end - capacity / 2)
    }
  }

  @_noLocks
  private func read(_ number: Int) -> StampedPose? {
    let slot = words + (number & (capacity - 1)) * Self.stride
    let mark = UInt64(2 * number + 2)
    guard slot[0].load(ordering: .acquiring) == mark else { return nil }
    let flags = slot[11].load(ordering: .relaxed)
    var pose = StampedPose(
      time: Int64(bitPattern: slot[1].load(ordering: .relaxed)),
      arrival: Int64(bitPattern: slot[2].load(ordering: .relaxed)),
      interval: Int64(bitPattern: slot[3].load(ordering: .relaxed)),
      headToWorld: Quaternion(
        w: Double(bitPattern: slot[4].load(ordering: .relaxed)),
        x: Double(bitPattern: slot[5].load(ordering: .relaxed)),
        y: Double(bitPattern: slot[6].load(ordering: .relaxed)),
        z: Double(bitPattern: slot[7].load(ordering: .relaxed))),
      angularVelocity: SIMD3(
        Double(bitPattern: slot[8].load(ordering: .relaxed)),
        Double(bitPattern: slot[9].load(ordering: .relaxed)),
        Double(bitPattern: slot[10].load(ordering: .relaxed))),
      hasVelocity: flags & 1 != 0, reference: UInt16(truncatingIfNeeded: flags >> 16),
      breaks: UInt16(truncatingIfNeeded: flags >> 32),
      fronts: UInt16(truncatingIfNeeded: flags >> 48))
    for index in 0..<5 {
      pose.forecast.means[index] = SIMD3(
        Double(bitPattern: slot[12 + 3 * index].load(ordering: .relaxed)),
        Double(bitPattern: slot[13 + 3 * index].load(ordering: .relaxed)),
        Double(bitPattern: slot[14 + 3 * index].load(ordering: .relaxed)))
    }
    pose.ready = Int64(bitPattern: slot[27].load(ordering: .relaxed))
    atomicMemoryFence(ordering: .acquiring)
    return slot[0].load(ordering: .relaxed) == mark ? pose : nil
  }
}
