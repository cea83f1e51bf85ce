// SPDX-License-Identifier: Apache-2.0

import Geometry
import Synchronization

/// The last pose the renderer used, for others to show: written without waiting, read by trying
/// again when the writer was in the middle of it.
struct RenderedPose: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init() {
    words = .allocate(capacity: 5)
    for index in 0..<5 { (words + index).initialize(to: Atomic(0)) }
    store(.identity)
  }

  func deallocate() {
    words.deinitialize(count: 5).deallocate()
  }

  @_noLocks
  func store(_ pose: Quaternion) {
    let number = words[0].load(ordering: .relaxed)
    words[0].store(number + 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    words[1].store(pose.w.bitPattern, ordering: .relaxed)
    words[2].store(pose.x.bitPattern, ordering: .relaxed)
    words[3].store(pose.y.bitPattern, ordering: .relaxed)
    words[4].store(pose.z.bitPattern, ordering: .relaxed)
    words[0].store(number + 2, ordering: .releasing)
  }

  func load() -> Quaternion {
    while true {
      let number = words[0].load(ordering: .acquiring)
      let pose = Quaternion(
        w: Double(bitPattern: words[1].load(ordering: .relaxed)),
        x: Double(bitPattern: words[2].load(ordering: .relaxed)),
        y: Double(bitPattern: words[3].load(ordering: .relaxed)),
        z: Double(bitPattern: words[4].load(ordering: .relaxed)))
      atomicMemoryFence(ordering: .acquiring)
      if number & 1 == 0, words[0].load(ordering: .relaxed) == number { return pose }
    }
  }
}
