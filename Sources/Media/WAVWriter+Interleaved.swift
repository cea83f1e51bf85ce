// SPDX-License-Identifier: Apache-2.0

extension WAVWriter {
  /// Appends frames x channels, sample by sample in turn.
  ///
  /// - Throws: `MediaError.writeFailed`; the file is then gone.
  public func write(interleaved samples: [Float]) throws(MediaError) {
    precondition(
      samples.count.isMultiple(of: channels),
      "\(samples.count) samples are no frames of \(channels) channels")
    let count = samples.count / channels
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, samples.count))
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
    defer {
      planes.deallocate()
      memory.deallocate()
    }
    for channel in 0..<channels {
      (planes + channel).initialize(to: memory + channel * count)
      for frame in 0..<count {
        (planes[channel] + frame).initialize(to: samples[frame * channels + channel])
      }
    }
    try write(planar: UnsafePointer(planes), frames: count)
  }
}
