// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Memory for channels x frames, as the pointers that real-time functions take.
struct PlanarScratch: ~Copyable {
  let channels: Int
  let frames: Int
  let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let samples: AlignedFloats

  init(channels: Int, frames: Int) {
    self.channels = channels
    self.frames = frames
    samples = AlignedFloats(count: channels * frames)
    planes = .allocate(capacity: max(1, channels))
    for c in 0..<channels { (planes + c).initialize(to: samples.pointer + c * frames) }
  }

  deinit { planes.deallocate() }
}

@_noLocks
func copyFrames(
  _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int
) {
  for i in 0..<count { to[i] = from[i] }
}

@_noLocks
func addFrames(
  _ from: UnsafePointer<Float>, to sum: UnsafeMutablePointer<Float>, _ count: Int
) {
  for i in 0..<count { sum[i] += from[i] }
}

@_noLocks
func clearFrames(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
  for i in 0..<count { samples[i] = 0 }
}
