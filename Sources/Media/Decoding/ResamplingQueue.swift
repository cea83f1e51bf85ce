// SPDX-License-Identifier: Apache-2.0

/// Queues decoded frames and converts them to one sample rate, even if the decoder's rate changes.
final class ResamplingQueue {
  /// The frames at the decoder's rate. `take` removes them if they must be resampled.
  let input: PlanarQueue
  /// The sample rate of the frames that `read` moves, in Hz.
  let sampleRate: Int
  private let output: PlanarQueue
  private var resampler: Resampler?
  private var inputRate: Int
  /// The number of frames at `sampleRate` still to be dropped.
  private var toDiscard: Int

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - inputRate: the decoder's rate, in Hz.
  ///   - sampleRate: the requested rate, in Hz.
  ///   - discarding: the number of output frames to drop from the start.
  /// - Throws: `.outputRate` if the conversion between the two rates cannot be set up.
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

  /// Checks an output rate; nil is accepted.
  ///
  /// - Throws: `.outputRate` if the rate is out of range.
  static func requireRate(_ rate: Int?) throws(MediaError) {
    guard let rate, !AudioTrack.sampleRates.contains(rate) else { return }
    throw .outputRate(rate)
  }

  /// Resamples the frames in `input` from `rate` to `sampleRate`. If the rates are equal, the
  /// frames stay in `input`.
  ///
  /// - Throws: `.outputRate` if the conversion from `rate` cannot be set up.
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

  /// Ends the resampler's input, so that its remaining frames can be read. If the decoder's rate is
  /// not `sampleRate`, `take` then accepts only frames at a rate other than the decoder's present
  /// rate. Without a resampler, the call has no effect.
  func finish() { resampler?.finish(into: output) }

  /// Returns a queue for the frames after a layout change. `frame` is the index of the first of
  /// these frames, at the decoder's rate.
  ///
  /// The filter phases repeat after `ResamplingRatio.periodIn` input frames. The new resampler
  /// first receives silence for the part of this period that precedes `frame`, so that its output
  /// stays on the time grid of the old queue. The output for that silence is dropped.
  ///
  /// - Throws: `.outputRate` if the conversion cannot be set up.
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

  /// Drops the frames to be discarded. Returns whether frames are ready to be read.
  func isReady() -> Bool {
    while toDiscard > 0, ready.count > 0 {
      let count = min(toDiscard, ready.count)
      ready.consume(count)
      toDiscard -= count
    }
    return ready.count > 0
  }

  /// Moves frames into `planes`, beginning at the index `start`. Call this function only if
  /// `isReady` has returned true.
  ///
  /// - Returns: the number of frames moved, at most `frames`.
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

  /// The queue to read from. Frames that remain from an earlier rate come first.
  private var ready: PlanarQueue { output.count > 0 ? output : input }
}
