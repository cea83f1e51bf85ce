// SPDX-License-Identifier: Apache-2.0

public import Loudness
public import Rendering

extension OfflineRenderer {
  /// Renders the entire output to measure its loudness. Afterwards, `next` returns 0.
  ///
  /// - Parameter look: called after each block with its number of frames; returns false to stop.
  /// - Returns: the loudness and true peak of the output; nil if nothing is above the gate of -70
  ///   LUFS.
  /// - Throws: `PlaybackError.interrupted` if `look` returned false, or any error from the source.
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
