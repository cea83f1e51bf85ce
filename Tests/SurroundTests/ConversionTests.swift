// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Foundation
import Geometry
import TestSupport
import Testing

@testable import Surround

@Suite struct ConversionTests {
  private static let surround51 = Upmixer.layout
  private static let surround71: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
    .sideRight,
  ]
  private static let surround714: [Speaker] =
    surround71 + [.topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight]
  private static let layouts: [[Speaker]] = [
    [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight], surround71,
    surround714,
  ]

  @Test(arguments: layouts) func panningKeepsEnergyAndIsExactAtTheSpeakers(speakers: [Speaker]) {
    var random = SeededGenerator.forTest()
    let panner = AmplitudePanner(speakers: speakers)
    for _ in 0..<500 {
      let gains = panner.gains(randomDirection(using: &random))
      #expect(abs(gains.reduce(0) { $0 + $1 * $1 } - 1) < 1e-9)
      #expect(gains.allSatisfy { $0 >= 0 })
    }
    for (index, speaker) in speakers.enumerated() {
      guard let place = speaker.direction(in: speakers) else { continue }
      let gains = panner.gains(place.unitVector)
      #expect(abs(gains[index] - 1) < 1e-6, "\(speaker)")
    }
  }

  /// The gain-weighted sum of the loudspeakers' vectors points to the source, and left and right
  /// are mirror images.
  @Test(arguments: layouts) func panningPointsToTheSource(speakers: [Speaker]) {
    let panner = AmplitudePanner(speakers: speakers)
    for azimuth in stride(from: -180.0, to: 180, by: 7) {
      let v = Direction(azimuth: azimuth).unitVector
      var sum = SIMD3<Double>.zero
      for (gain, speaker) in zip(panner.gains(v), speakers) {
        if let place = speaker.direction(in: speakers) { sum += gain * place.unitVector }
      }
      let cosine = (sum * v).sum() / (sum * sum).sum().squareRoot()
      #expect(cosine > 0.9999, "azimuth \(azimuth)")
    }
    let left = panner.gains(SIMD3(0.36, 0.48, 0.8))
    let right = panner.gains(SIMD3(0.36, -0.48, 0.8))
    let swap: [Speaker: Speaker] = [
      .frontLeft: .frontRight, .backLeft: .backRight, .sideLeft: .sideRight,
      .topFrontLeft: .topFrontRight, .topBackLeft: .topBackRight,
    ]
    for (speaker, mirrored) in swap {
      guard let a = speakers.firstIndex(of: speaker), let b = speakers.firstIndex(of: mirrored)
      else { continue }
      #expect(abs(left[a] - right[b]) < 1e-9)
    }
  }

  @Test func sharedChannelsPassUnchanged() {
    for target in Self.layouts {
      guard case .speakers(let source) = Self.surround51 else { continue }
      let gains = Conversion.gains(from: Self.surround51, to: .speakers(target))
      for (input, speaker) in source.enumerated() {
        for (output, other) in target.enumerated() {
          #expect(gains[output][input] == (speaker == other ? 1 : 0))
        }
      }
    }
    let rear51: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
    ]
    let same = Conversion.gains(from: .speakers(rear51), to: Self.surround51)
    for (o, row) in same.enumerated() {
      for (i, gain) in row.enumerated() { #expect(gain == (i == o ? 1 : 0)) }
    }
    let folded = Conversion.gains(from: Self.surround51, to: .stereo)
    let half = 0.5.squareRoot()
    #expect(folded == [[1, 0, half, 0, half, 0], [0, 1, half, 0, 0, half]])
  }

  @Test(arguments: [.speakers(surround714), .speakers(surround71)] as [ChannelLayout])
  func downmixPreservesTheEnergyOfEachChannel(source: ChannelLayout) {
    let gains = Conversion.gains(from: source, to: Self.surround51)
    for input in 0..<source.channelCount {
      let energy = gains.reduce(0.0) { $0 + $1[input] * $1[input] }
      #expect(abs(energy - 1) < 1e-9)
    }
  }

  @Test(arguments: 1...5) func soundfieldDecodingPreservesEnergyAndDirection(order: Int) {
    var random = SeededGenerator.forTest()
    for speakers in Self.layouts {
      let decoder = FieldSpeakerDecoder.gains(order: order, speakers: speakers)
      var mean = 0.0
      for _ in 0..<400 {
        let v = randomDirection(using: &random)
        let field = SphericalHarmonics.evaluate(order: order, v)
        mean += decoder.reduce(0) { sum, row in
          let gain = zip(row, field).reduce(0) { $0 + $1.0 * $1.1 }
          return sum + gain * gain
        }
      }
      #expect(abs(mean / 400 - 1) < 0.15)
      for azimuth in [0.0, 60, -110, 150] {
        let v = Direction(azimuth: azimuth).unitVector
        let field = SphericalHarmonics.evaluate(order: order, v)
        var vector = SIMD3<Double>.zero
        for (row, speaker) in zip(decoder, speakers) {
          let gain = zip(row, field).reduce(0) { $0 + $1.0 * $1.1 }
          if let place = speaker.direction(in: speakers) {
            vector += gain * gain * place.unitVector
          } else {
            #expect(gain == 0)
          }
        }
        vector.z = 0
        let cosine = (vector * v).sum() / (vector * vector).sum().squareRoot()
        #expect(cosine > 0.9, "order \(order), azimuth \(azimuth)")
      }
    }
  }

  @Test func firstOrderEncodesSpeakersAtTheirPositions() {
    let gains = Conversion.gains(from: Self.surround51, to: Conversion.firstOrder)
    let left = SphericalHarmonics.evaluate(order: 1, Direction(azimuth: 110).unitVector)
    for c in 0..<4 {
      #expect(abs(gains[c][4] - left[c]) < 1e-12)
      #expect(gains[c][3] == 0)
    }
  }
}
