// SPDX-License-Identifier: Apache-2.0

/// Converts the sample rate of sound that arrives in blocks. See `Resampler` for the quality.
///
/// With `in` and `out` as the two sample rates, `n` input frames become `ceil(n * out / in)` output
/// frames in total, including those of `finish`.
package final class StreamResampler {
  private let resampler: Resampler
  private let input: PlanarQueue
  private let output: PlanarQueue
  private let channels: Int

  package init(channels: Int, from inRate: Int, to outRate: Int) throws(MediaError) {
    resampler = try Resampler(channels: channels, from: inRate, to: outRate)
    input = PlanarQueue(channels: channels)
    output = PlanarQueue(channels: channels)
    self.channels = channels
  }

  /// Takes `frames` frames from one plane per channel, and returns the number of output frames that
  /// `plane` then holds.
  package func process(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) -> Int {
    output.removeAll()
    for channel in 0..<channels {
      input.tail(channel, frames: frames).update(from: planes[channel], count: frames)
    }
    input.commit(frames)
    resampler.process(input, into: output)
    return output.count
  }

  /// Ends the input, and returns the number of remaining output frames that `plane` then holds.
  package func finish() -> Int {
    output.removeAll()
    resampler.finish(into: output)
    return output.count
  }

  /// The output frames of a channel, valid until the next call of `process` or `finish`.
  package func plane(_ channel: Int) -> UnsafeMutablePointer<Float> { output.plane(channel) }
}
