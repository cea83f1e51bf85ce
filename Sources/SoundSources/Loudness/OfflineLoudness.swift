// SPDX-License-Identifier: Apache-2.0

public import Loudness
public import Rendering

extension OfflineRenderer {
  /// Renders all of it only to measure it. The renderer is used up by that: what is written is
  /// rendered by another one, with the gain that follows.
  ///
  /// - Parameter look: called after each block with its frames; false ends the measuring.
  /// - Returns: loudness and true peak of the output; nil where nothing is above the gate of
  ///   -70 LUFS.
  /// - Throws: `PlaybackError.interrupted` when it was ended, and the source's errors.
  public func measureLoudness(
    look: (_ frames: Int) -> Bool
  ) throws(PlaybackError) -> LoudnessMeasurement? {
    let meter = LoudnessMeter(
      weights: [.main, .main], sampleRate: Int(renderer.sampleRate), measuresPeak: true)
    while true {
      let count = try next()
      guard count > 0 else { break }
      meter.add(output, frames: count)
      guard look(count) else { throw .interrupted }
    }
    guard let loudness = meter.integrated else { return nil }
    return LoudnessMeasurement(ears: loudness, source: nil, truePeak: meter.truePeak)
  }
}
