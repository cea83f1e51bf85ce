// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import TestSupport
import Testing

/// The values that a recording stores.
struct SampleTests {
  private func stored(
    _ samples: [Float], _ codec: RecordingFormat.Codec, suffix: String = "wav"
  ) throws -> ([Float], RecordingCounts) {
    let folder = TemporaryFolder()
    let path = folder.file("a." + suffix)
    let file = try RecordingContainer.open(
      path: path, format: RecordingFormat(layout: .mono, sampleRate: 48000, codec: codec))
    try file.append(samples)
    try file.finish()
    return (try readTrack(path).1[0], file.counts)
  }

  @Test func all16BitValuesAreExact() throws {
    let samples = (-32768...32767).map { Float($0) / 32768 }
    for suffix in RecordingContainer.allCases.map(\.suffix) {
      let (result, counts) = try stored(samples, .pcm24, suffix: suffix)
      #expect(result == samples)
      #expect(counts.clippedSamples == 0)
    }
  }

  @Test func extreme24BitValuesAreExact() throws {
    let limit = 1 << 23
    let values = Array(-limit..<(-limit + 5000)) + Array(-5000...5000) + Array(limit - 5000..<limit)
    let samples = values.map { Float($0) * 0x1p-23 }
    let (result, counts) = try stored(samples, .pcm24)
    #expect(result == samples)
    #expect(counts.clippedSamples == 0)
  }

  @Test func valuesBetweenTwoStepsAreRounded() throws {
    let (result, _) = try stored([0x1.4p-23, 0x1.cp-23, -0x1.4p-23, -0x1.cp-23], .pcm24)
    #expect(result == [0x1p-23, 0x2p-23, -0x1p-23, -0x2p-23])
  }

  @Test func clippingIsCounted() throws {
    let (result, counts) = try stored([1, -1, 1.5, -1.5, 0.5], .pcm24)
    let top: Float = 1 - 0x1p-23
    #expect(result == [top, -1, top, -1, 0.5])
    #expect(counts.clippedSamples == 3)
  }

  @Test func floatKeepsEveryFiniteValue() throws {
    let samples: [Float] = [1.5, -7, 0x1p-140, -0.0, .leastNonzeroMagnitude, 0.1]
    let (result, counts) = try stored(samples, .float)
    #expect(result.map(\.bitPattern) == samples.map(\.bitPattern))
    #expect(counts.clippedSamples == 0 && counts.invalidSamples == 0)
  }

  @Test(arguments: [RecordingFormat.Codec.pcm24, .float])
  func invalidSamplesBecomeSilence(_ codec: RecordingFormat.Codec) throws {
    let samples: [Float] = [0.5, .nan, .infinity, -.infinity, -0.25, .signalingNaN]
    let (result, counts) = try stored(samples, codec)
    #expect(result == [0.5, 0, 0, 0, -0.25, 0])
    #expect(counts.invalidSamples == 4)
    #expect(counts.clippedSamples == 0)
  }
}
