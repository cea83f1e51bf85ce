// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing
internal import Surround

/// Upmixes stereo to 5.1 during playback.
///
/// The output is delayed by `latencyFrames`.
///
/// ## Threading
/// Use it from one thread at a time. `process` does not allocate, lock or wait.
struct LiveUpmix: ~Copyable {
  private let upmixer: Upmixer
  private let input: PlanarScratch
  private let output: PlanarScratch
  private var position = 0

  init(sampleRate: Double, settings: UpmixSettings) {
    upmixer = Upmixer(sampleRate: sampleRate, settings: settings)
    input = PlanarScratch(channels: 2, frames: upmixer.hopFrames)
    output = PlanarScratch(channels: 6, frames: upmixer.hopFrames)
  }

  var latencyFrames: Int { upmixer.windowFrames }

  mutating func reset() {
    upmixer.reset()
    for c in 0..<6 { clearFrames(output.planes[c], upmixer.hopFrames) }
    position = 0
  }

  /// Upmixes `stereo`, 2 x frames, to `surround`, 6 x frames in the order of `Upmixer.layout`.
  mutating func process(
    _ stereo: UnsafeMutablePointer<UnsafeMutablePointer<Float>>,
    into surround: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    var done = 0
    while done < frames {
      let count = min(upmixer.hopFrames - position, frames - done)
      for c in 0..<6 { copyFrames(output.planes[c] + position, surround[c] + done, count) }
      for c in 0..<2 { copyFrames(stereo[c] + done, input.planes[c] + position, count) }
      position += count
      done += count
      guard position == upmixer.hopFrames else { continue }
      upmixer.process(
        left: input.planes[0], right: input.planes[1], into: UnsafePointer(output.planes))
      position = 0
    }
  }
}
