// SPDX-License-Identifier: Apache-2.0

/// Memory for channels x frames samples.
package struct PlanarScratch: ~Copyable {
  package let channels: Int
  package let frames: Int
  package let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let samples: AlignedFloats

  package init(channels: Int, frames: Int) {
    self.channels = channels
    self.frames = frames
    samples = AlignedFloats(count: channels * frames)
    planes = .allocate(capacity: max(1, channels))
    for c in 0..<channels { (planes + c).initialize(to: samples.pointer + c * frames) }
  }

  deinit { planes.deallocate() }
}
