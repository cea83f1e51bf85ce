// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import TestSupport
import Testing

@testable import Surround

@Suite struct TreatmentTests {
  @Test(arguments: 1...7)
  func soundfieldChannelsMapOneToOneToTheBus(order: Int) {
    let layout = ChannelLayout.ambisonics(order: order, convention: .ambiX, headLocked: true)
    let treatment = Treatment(spatial: layout, busOrder: 5)
    #expect(treatment.order == order)
    let channels = treatment.field.count
    for (c, row) in treatment.field.enumerated() {
      #expect(row.enumerated().allSatisfy { $0.element == ($0.offset == c ? 1 : 0) })
    }
    #expect(treatment.headLocked[0][channels] == 1)
    #expect(treatment.headLocked[1][channels + 1] == 1)
    #expect(treatment.headLocked.joined().reduce(0, +) == 2)
    #expect(treatment.lowFrequency.joined().allSatisfy { $0 == 0 })
  }

  /// Checks FuMa's scale by its definition: every component but W has a maximum of 1.
  @Test func fuMaComponentsHaveAMaximumOfOne() {
    var random = SeededGenerator.forTest()
    var loudest = [Double](repeating: 0, count: 16)
    for _ in 0..<200_000 {
      let y = SphericalHarmonics.evaluate(order: 3, randomDirection(using: &random))
      for c in 0..<16 { loudest[c] = max(loudest[c], abs(y[c])) }
    }
    for (channel, gain) in AmbisonicConvention.fuMa.conversion(order: 3).dropFirst() {
      #expect(abs(loudest[channel] / gain - 1) < 0.002, "ACN \(channel)")
    }
    #expect(Set(FuMa.ambisonicChannels) == Set(0..<16))
  }

  /// A source from the upper left in FuMa's published formulas must come out as ACN/SN3D.
  @Test func fuMaConvertsToACNAndSN3D() {
    var random = SeededGenerator.forTest()
    let v = randomDirection(using: &random)
    let (w, x, y, z) = (0.5.squareRoot(), v.x, v.y, v.z)
    let fuMa = [
      w, x, y, z, 1.5 * z * z - 0.5, 2 * z * x, 2 * y * z, x * x - y * y, 2 * x * y,
    ]
    let layout = ChannelLayout.ambisonics(order: 2, convention: .fuMa, headLocked: false)
    let field = Treatment(spatial: layout, busOrder: 5).field
    let truth = SphericalHarmonics.evaluate(order: 2, v)
    for (row, expected) in zip(field, truth) {
      #expect(abs(zip(row, fuMa).reduce(0) { $0 + $1.0 * $1.1 } - expected) < 1e-12)
    }
  }

  @Test func speakerAzimuthsMatchBS775AndBS2051() {
    let surround: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ]
    let angles = surround.map { $0.direction(in: surround)?.azimuth }
    #expect(angles == [30, -30, 0, nil, 110, -110])
    let rear51 = surround.map { $0 == .sideLeft ? .backLeft : $0 == .sideRight ? .backRight : $0 }
    #expect(rear51.map { $0.direction(in: rear51)?.azimuth } == angles)
    let surround71 = surround + [.backLeft, .backRight]
    #expect(
      surround71.map { $0.direction(in: surround71)?.azimuth } == [
        30, -30, 0, nil, 90, -90, 135, -135,
      ])
  }

  @Test func lfeReachesBothEarsEquallyAndNothingElse() {
    let surround: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
    ]
    let treatment = Treatment(spatial: .speakers(surround), busOrder: 5)
    #expect(treatment.field.allSatisfy { $0[3] == 0 })
    #expect(treatment.lowFrequency[0] == treatment.lowFrequency[1])
    #expect(treatment.lowFrequency[0][3] > 3)
    #expect(Treatment(plain: .speakers(surround)).headLocked.allSatisfy { $0[3] == 0 })
  }

  @Test func plainStereoAndMonoPassUnchanged() {
    #expect(Treatment(plain: .stereo).headLocked == [[1, 0], [0, 1]])
    #expect(Treatment(plain: .mono).headLocked == [[1], [1]])
  }

  @Test func mixMatrixComputesWeightedSums() {
    var random = SeededGenerator.forTest()
    let gains = (0..<3).map { _ in (0..<4).map { _ in Double.random(in: -1...1, using: &random) } }
    let matrix = MixMatrix(gains: gains, inputs: 4)
    let x = (0..<4).map { _ in (0..<10).map { _ in Float.random(in: -1...1, using: &random) } }
    let input = x.map { row in
      let p = UnsafeMutablePointer<Float>.allocate(capacity: 10)
      p.initialize(from: row, count: 10)
      return p
    }
    let output = (0..<3).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: 10) }
    defer { for memory in input + output { memory.deallocate() } }
    matrix.mix(input, into: output, frames: 10)
    for o in 0..<3 {
      for i in 0..<10 {
        let truth = (0..<4).reduce(0.0) { $0 + gains[o][$1] * Double(x[$1][i]) }
        #expect(abs(Double(output[o][i]) - truth) < 1e-6)
      }
    }
  }
}
