// SPDX-License-Identifier: Apache-2.0

import AudioMix
import SignalProcessing
import Testing

/// Tests the separator with a speech enhancer.
@Suite struct EnhancedFramesTests {
  /// Delays sound and multiplies it by a gain.
  private final class Delay: SpeechEnhancer {
    var past: [Float]
    let gain: Float
    init(gain: Float, frames: Int = speechEnhancerDelayFrames) {
      self.gain = gain
      past = [Float](repeating: 0, count: frames)
    }
    func enhance(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
      past += UnsafeBufferPointer(start: samples, count: frames)
      for i in 0..<frames { samples[i] = past[i] * gain }
      past.removeFirst(frames)
    }
    func reset() { past = past.map { _ in 0 } }
  }

  /// Returns the delayed field and the image of the talkers.
  private func separated(
    _ input: [[Float]], _ enhancer: Delay?, blockFrames: Int = 1000
  ) -> (latency: Int, field: [[Float]], image: [[Float]]) {
    var separator = SpatialSeparator(sampleRate: 48_000, fieldOfView: 1, enhancer: enhancer)
    let block = SeparatedBlock(capacity: blockFrames)
    var (input, field, image) = (
      input, [[Float]](repeating: [], count: 4), [[Float]](repeating: [], count: 4)
    )
    var done = 0
    while done < input[0].count {
      let count = min(blockFrames, input[0].count - done)
      withPlanes(&input, at: done) { separator.process($0, frames: count, into: block) }
      for c in 0..<4 {
        field[c] += UnsafeBufferPointer(start: block.field[c], count: count)
        image[c] += UnsafeBufferPointer(start: block.image[c], count: count)
      }
      done += count
    }
    return (separator.latencyFrames, field, image)
  }

  private func energy(_ a: some Sequence<Float>) -> Double {
    a.reduce(0) { $0 + Double($1) * Double($1) }
  }

  private func talker() -> [[Float]] {
    planeWave(syntheticVoice(frames: 144_000, sampleRate: 48_000), azimuth: 40)
  }

  @Test func imageOfADryTalkerIsTheField() {
    let input = talker()
    let result = separated(input, Delay(gain: 1))
    #expect(result.latency == 11 * 512)
    for c in 0..<4 {
      #expect(
        Array(result.field[c].dropFirst(result.latency))
          == Array(input[c].dropLast(result.latency)))
    }
    let pairs = zip(result.field[0], result.image[0]).dropFirst(48_000)
    let error = energy(pairs.map { $0 - $1 }) / energy(pairs.map(\.0))
    // The mask would be smaller if the enhanced sound were compared with another moment.
    #expect(error < 1e-3)
    let late = separated(input, Delay(gain: 1, frames: speechEnhancerDelayFrames + 1024))
    let latePairs = zip(late.field[0], late.image[0]).dropFirst(48_000)
    #expect(energy(latePairs.map { $0 - $1 }) / energy(latePairs.map(\.0)) > 10 * error)
  }

  @Test(arguments: [Float(0.25), 0.01])
  func gainIsTheRootOfTheMask(gain: Float) {
    let input = talker()
    let full = separated(input, Delay(gain: 1)).image[0].dropFirst(48_000)
    let less = separated(input, Delay(gain: gain)).image[0].dropFirst(48_000)
    #expect(abs(energy(less) / energy(full) / Double(gain) - 1) < 0.05)
  }

  @Test(arguments: [1, 333, 4096])
  func blockSizeHasNoEffect(blockFrames: Int) {
    let input = talker().map { Array($0.prefix(30_000)) }
    let truth = separated(input, Delay(gain: 0.5))
    let other = separated(input, Delay(gain: 0.5), blockFrames: blockFrames)
    #expect(truth.image == other.image && truth.field == other.field)
  }
}
