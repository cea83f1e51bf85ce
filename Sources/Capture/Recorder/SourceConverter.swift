// SPDX-License-Identifier: Apache-2.0

private import Media

/// The microphone channels that receive the sound if only one channel of the source is recorded.
enum SingleChannel {
  /// The first channel, which is W in a soundfield.
  case first
  case all
  /// All four capsules, with a gain of 0.5.
  case allCapsules
}

/// Converts the frames of a source to the rate and the number of channels of a recording.
final class SourceConverter {
  private let channels: Int
  private let sourceChannels: Int
  /// The source channel for each microphone channel; nil for silence.
  private let map: [Int?]
  private let gain: Float
  private let rates: (source: Int, recording: Int)
  private var resampler: StreamResampler?

  /// Creates a converter.
  ///
  /// - Parameters:
  ///   - source: the number of channels and the rate [Hz].
  ///   - recording: the number of microphone channels and the rate [Hz].
  ///   - selection: the channels of the source to record, counted from 0; nil for all.
  ///   - single: the microphone channels that receive the sound if only one channel of the source
  ///     is recorded.
  init(
    source: (channels: Int, rate: Int), recording: (channels: Int, rate: Int),
    selection: [Int]?, single: SingleChannel
  ) {
    channels = recording.channels
    sourceChannels = source.channels
    rates = (source.rate, recording.rate)
    // The selection does not apply to a one-channel source.
    let available = source.channels == 1 ? [0] : selection ?? Array(0..<source.channels)
    map = (0..<recording.channels).map { channel in
      if channel < available.count {
        return available[channel] < source.channels ? available[channel] : nil
      }
      return available.count == 1 && single != .first ? available[0] : nil
    }
    gain = single == .allCapsules && available.count == 1 ? 0.5 : 1
  }

  var isResampling: Bool { rates.source != rates.recording }

  /// Converts samples of the source, frames x channels. Samples that are not finite become 0 and
  /// are counted in `invalid`.
  func process(
    _ samples: UnsafePointer<Float>, frames: Int, invalid: inout Int
  ) throws -> PlanarBlock {
    let block = PlanarBlock(channels: channels, frames: frames)
    for (channel, from) in map.enumerated() {
      guard let from else { continue }
      let plane = block[channel]
      for i in 0..<frames {
        let sample = samples[i * sourceChannels + from]
        if sample.isFinite { plane[i] = gain * sample } else { invalid += 1 }
      }
    }
    guard isResampling else { return block }
    let resampler = try running()
    return taken(resampler, resampler.process(block.planes, frames: frames))
  }

  /// Discards the resampler and returns its last frames; nil if there is no resampler.
  func flush() -> PlanarBlock? {
    guard let resampler else { return nil }
    self.resampler = nil
    return taken(resampler, resampler.finish())
  }

  private func running() throws -> StreamResampler {
    if let resampler { return resampler }
    let made = try StreamResampler(channels: channels, from: rates.source, to: rates.recording)
    resampler = made
    return made
  }

  private func taken(_ resampler: StreamResampler, _ count: Int) -> PlanarBlock {
    let result = PlanarBlock(channels: channels, frames: count)
    for channel in 0..<channels where count > 0 {
      result[channel].update(from: resampler.plane(channel), count: count)
    }
    return result
  }
}
