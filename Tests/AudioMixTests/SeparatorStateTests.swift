// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioMix

@Suite struct SeparatorStateTests {
  private func scene(frames: Int) -> [[Float]] {
    let voice = syntheticVoice(frames: frames, sampleRate: 48000)
    return sum(planeWave(voice, azimuth: 40), diffuseNoise(frames: frames, level: 0.02))
  }

  @Test(arguments: [1, 37, 512, 2048, 50000])
  func blockSizeDoesNotMatter(blockFrames: Int) {
    let input = scene(frames: 50000)
    var one = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    var other = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let expected = separate(input, with: &one, blockFrames: 1000)
    let output = separate(input, with: &other, blockFrames: blockFrames)
    #expect(output.image == expected.image)
    #expect(output.framedImage == expected.framedImage)
    #expect(output.studioImage == expected.studioImage)
  }

  @Test func resetRestoresTheBeginning() {
    let input = scene(frames: 48000)
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let first = separate(input, with: &separator)
    separator.reset()
    #expect(separate(input, with: &separator).image == first.image)
  }

  @Test func earlierInputIsForgotten() {
    var complete = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    var late = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let (settling, hop) = (complete.settlingFrames, complete.hopFrames)
    let start = 200 * hop
    #expect(settling % hop == 0)
    let input = scene(frames: start + settling + 48000)
    let expected = separate(input, with: &complete).dropping(start + settling)
    let output = separate(input.map { Array($0.dropFirst(start)) }, with: &late)
      .dropping(settling)
    #expect(relativeLevel(difference(output.image, expected.image), expected.field) < -100)
    #expect(
      relativeLevel(difference(output.studioImage, expected.studioImage), expected.field) < -100)
  }

  @Test func silenceStaysSilence() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let silence = [[Float]](repeating: [Float](repeating: 0, count: 20000), count: 4)
    let output = separate(silence, with: &separator)
    #expect(output.image == silence)
    #expect(output.framedImage == silence)
    #expect(output.studioImage == silence)
  }

  @Test func invalidSamplesStayInTheFieldOnly() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    var input = scene(frames: 60000)
    input[0][20000] = .nan
    input[2][20100] = .infinity
    input[3][20200] = -.greatestFiniteMagnitude
    let output = separate(input, with: &separator)
    for part in [output.image, output.framedImage, output.studioImage] {
      #expect(part.allSatisfy { $0.allSatisfy { $0.isFinite && abs($0) < 10 } })
    }
    #expect(output.field[0][20000 + separator.latencyFrames].isNaN)
    #expect(output.field[2][20100 + separator.latencyFrames] == .infinity)
  }

  @Test func inputShorterThanAWindowKeepsItsFrames() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let latency = separator.latencyFrames
    let input = scene(frames: 300).map { $0 + [Float](repeating: 0, count: latency) }
    let output = separate(input, with: &separator)
    for c in 0..<4 {
      #expect(Array(output.field[c].dropFirst(latency)) == Array(input[c].prefix(300)))
    }
  }

  /// The ambience is a difference in the time domain; the sum with the image is the input except
  /// for the rounding of one addition.
  @Test func imageAndAmbienceAddUpToTheInput() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let output = separate(scene(frames: 96000), with: &separator)
    let ambience = difference(output.field, output.image)
    #expect(
      relativeLevel(difference(sum(ambience, output.image), output.field), output.field) < -130)
    #expect(relativeLevel(output.image, output.field) > -20)
  }
}
