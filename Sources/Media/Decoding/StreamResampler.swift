// SPDX-License-Identifier: Apache-2.0

/// Converts the sample rate of sound that arrives in blocks.
///
/// With sample rates `in` and `out` in Hz, `n` input frames become `ceil(n * out / in)` output
/// frames, including those of `finish`.
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

  /// Resamples the first `frames` samples of each of `planes`. Returns the number of output frames;
  /// `plane(_:)` gives access to them.
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

  /// Ends the input. Returns the number of remaining output frames; `plane(_:)` gives access to
  /// them.
  package func finish() -> Int {
    output.removeAll()
    resampler.finish(into: output)
    return output.count
  }

  /// The output frames of a channel, valid until the next call of `process` or `finish`.
  package func plane(_ channel: Int) -> UnsafeMutablePointer<Float> { output.plane(channel) }
}
