// SPDX-License-Identifier: Apache-2.0

/// Frames on their way from a decoder to who reads them: at the decoder's rate in `input`, and
/// ready to be read at the rate that is wanted.
final class ResamplingQueue {
  /// Empty between calls of `take`, unless the rates are the same.
  let input: PlanarQueue
  /// In Hz, of the frames that can be read.
  let sampleRate: Int
  private let output: PlanarQueue
  private var resampler: Resampler?
  private var inputRate: Int
  /// Frames at `sampleRate` that are still to be dropped.
  private var toDiscard: Int

  /// - Throws: `.outputRate`.
  init(
    channels: Int, from inputRate: Int, to sampleRate: Int, discarding: Int = 0
  ) throws(MediaError) {
    input = PlanarQueue(channels: channels)
    output = PlanarQueue(channels: channels)
    toDiscard = discarding
    self.inputRate = sampleRate
    self.sampleRate = sampleRate
    try take(at: inputRate)
  }

  /// - Throws: `.outputRate` for a rate that nothing can be resampled to.
  static func requireRate(_ rate: Int?) throws(MediaError) {
    guard let rate, !AudioTrack.sampleRates.contains(rate) else { return }
    throw .outputRate(rate)
  }

  /// Takes the frames in `input`, which are at `rate`.
  func take(at rate: Int) throws(MediaError) {
    if rate != inputRate {
      finish()
      resampler = nil
      inputRate = rate
      if rate != sampleRate {
        resampler = try Resampler(channels: input.channels, from: rate, to: sampleRate)
      }
    }
    resampler?.process(input, into: output)
  }

  /// Makes the last frames ready. Only frames at another rate may follow.
  func finish() { resampler?.finish(into: output) }

  /// A queue for other channels, which begin with `frame` of the decoder.
  ///
  /// Its frames stay on the grid of the whole stream: the resampler first gets the silence that
  /// leads from the last whole period of its phases to `frame`.
  func following(channels: Int, from frame: Int64) throws(MediaError) -> ResamplingQueue {
    let next = try ResamplingQueue(
      channels: channels, from: inputRate, to: sampleRate, discarding: toDiscard)
    let ratio = ResamplingRatio(from: inputRate, to: sampleRate)
    let lead = frame % ratio.periodIn
    if lead > 0 {
      next.input.appendSilence(Int(lead))
      try next.take(at: inputRate)
      next.toDiscard += Int((lead * ratio.periodOut + ratio.periodIn - 1) / ratio.periodIn)
    }
    return next
  }

  /// Whether frames are ready to be read.
  func isReady() -> Bool {
    while toDiscard > 0, ready.count > 0 {
      let count = min(toDiscard, ready.count)
      ready.consume(count)
      toDiscard -= count
    }
    return ready.count > 0
  }

  /// Copies frames into one plane a channel, from index `start` of the planes on.
  ///
  /// - Returns: how many, at most `frames`.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, at start: Int, frames: Int
  ) -> Int {
    let ready = ready
    let count = min(ready.count, frames)
    for channel in 0..<ready.channels where count > 0 {
      (planes[channel] + start).update(from: ready.plane(channel), count: count)
    }
    ready.consume(count)
    return count
  }

  /// What is left of an earlier rate comes first.
  private var ready: PlanarQueue { output.count > 0 ? output : input }
}
