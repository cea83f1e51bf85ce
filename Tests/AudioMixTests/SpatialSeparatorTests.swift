// SPDX-License-Identifier: Apache-2.0

import AudioMix
import TestSupport
import Testing

@Suite struct SpatialSeparatorTests {
  @Test(arguments: [1, 7, 512, 4096])
  func fieldIsTheDelayedInput(blockFrames: Int) {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let frames = 3 * separator.latencyFrames
    let input = (0..<4).map { channel -> [Float] in
      (0..<frames).map { frame -> Float in Float((frame * 7 + channel * 3) % 31) / 31 }
    }
    let output = separated(input, by: &separator, blockFrames: blockFrames)
    let silence = [Float](repeating: 0, count: separator.latencyFrames)
    for c in 0..<4 { #expect(output[c] == silence + input[c].dropLast(silence.count)) }
  }

  private func separated(
    _ input: [[Float]], by separator: inout SpatialSeparator, blockFrames: Int
  ) -> [[Float]] {
    let frames = input[0].count
    let block = SeparatedBlock(capacity: blockFrames)
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 4)
    defer { planes.deallocate() }
    var output = [[Float]](repeating: [], count: 4)
    var copy = input
    var done = 0
    while done < frames {
      let count = min(blockFrames, frames - done)
      for c in 0..<4 {
        copy[c].withUnsafeMutableBufferPointer {
          (planes + c).initialize(to: $0.baseAddress! + done)
        }
      }
      separator.process(UnsafePointer(planes), frames: count, into: block)
      for c in 0..<4 { output[c] += (0..<count).map { block.field[c][$0] } }
      done += count
    }
    return output
  }
}
