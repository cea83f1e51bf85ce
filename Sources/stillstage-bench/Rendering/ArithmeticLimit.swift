// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory

/// The arithmetic operations of rotation and uniformly partitioned convolution, without overhead.
///
/// In a block of B frames, with C = (order + 1)^2 channels and P = ceil(taps / B) partitions:
/// - rotation: 4 (2 l + 1)^2 B for every degree l from 1 to the order (a matrix and its slope);
/// - C + 2 real transforms of 2 B values, 2.5 (2 B) log2 (2 B) each;
/// - products: 8 C P (B + 1) for each ear, or only once if the ears are mirror images.
struct ArithmeticLimit {
  /// The peak rate, in operations per second.
  let peak: Double
  let sampleRate: Int

  /// Returns the number of operations for one second of audio.
  func operations(_ job: BenchJob) -> Double {
    let block = Double(job.blockFrames)
    let channels = Double((job.order + 1) * (job.order + 1))
    let partitions = (Double(job.taps) / block).rounded(.up)
    let filters = job.path == .symmetric ? 1.0 : 2.0
    var gains = 0
    for l in 1...job.order { gains += (2 * l + 1) * (2 * l + 1) }
    let rotation: Double = 4 * Double(gains) * block
    let transforms: Double = (channels + 2) * 2.5 * (2 * block) * log2(2 * block)
    let products: Double = filters * 8 * channels * partitions * (block + 1)
    return (rotation + transforms + products) * Double(sampleRate) / block
  }

  /// Returns the fraction of a cost that the arithmetic alone needs. The cost is in CPU ms per
  /// second of audio.
  func share(_ job: BenchJob, millisecondsPerSecond: Double) -> Double {
    operations(job) / peak / (millisecondsPerSecond * 1e-3)
  }
}
