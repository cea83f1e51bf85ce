// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Binaural

/// Compares the decoder with the exact responses of the ears to every wave.
@Suite struct ParametricDecoderTests {
  static let directions = ParametricScene.finer.directions

  static func randomSource() -> Int { Int.random(in: directions.indices) }

  /// Returns two directions at least 45 degrees apart.
  static func randomPair() -> (Int, Int) {
    while true {
      let (a, b) = (randomSource(), randomSource())
      if (directions[a] * directions[b]).sum() < 0.7 { return (a, b) }
    }
  }

  /// Directions with a symmetric covariance, which has many equivalent eigenvectors: straight
  /// ahead, left, above and on a diagonal.
  static let special: [SIMD3<Double>] = [
    SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1), SIMD3(0.53, 0.53, -0.66),
  ]

  @Test(arguments: 0..<10) func planeWaveMatchesTheExactEarSignals(_ number: Int) throws {
    let source =
      number < Self.special.count
      ? ParametricScene.finer.nearestDirection(to: Self.special[number]) : Self.randomSource()
    let scene = ParametricScene([(source, noise(8000))])
    let heard = try scene.decoded()
    // Opposite an ear, the response of the sphere has a fine pattern, which the grid blurs.
    #expect(residualDecibels(heard, scene.truth) < -13)
    let (bands, truth) = (EarBands(heard), EarBands(scene.truth))
    var errors = (level: 0.0, difference: 0.0)
    for band in EarBands.centres.indices {
      let (left, right) = (bands.level(0, band, over: truth), bands.level(1, band, over: truth))
      errors.level += (abs(left) + abs(right)) / 2
      errors.difference += abs(left - right)
      if EarBands.centres[band] < 1500 {
        let turn = bands.products[band] * truth.products[band].conjugate
        #expect(abs(turn.angle) < 0.03)
      }
    }
    #expect(errors.level / Double(EarBands.centres.count) < 0.7)
    #expect(errors.difference / Double(EarBands.centres.count) < 1)
  }

  @Test(arguments: 0..<4) func twoPlaneWavesAreResolved(_: Int) throws {
    let (a, b) = Self.randomPair()
    let scene = ParametricScene([(a, noise(8000)), (b, noise(8000))])
    let residual = residualDecibels(try scene.decoded(), scene.truth)
    #expect(residual < -12)
    #expect(residual < residualDecibels(try scene.linear(), scene.truth) - 5)
  }

  /// Checks that waves with the same sound, which have no second eigenvector, are rendered
  /// steadily.
  @Test(arguments: [500.0, 1000, 3000])
  func toneFromTwoDirectionsStaysNarrowband(hertz: Double) throws {
    let tone = (0..<40_000).map { 0.2 * Float(sin(2 * .pi * hertz * Double($0) / 48_000)) }
    let (left, right) = (
      ParametricScene.finer.nearestDirection(to: SIMD3(0, 1, 0)),
      ParametricScene.finer.nearestDirection(to: SIMD3(0.2, -1, 0))
    )
    let scene = ParametricScene([(left, tone), (right, tone.map { 0.5 * $0 })])
    for ear in try scene.decoded() {
      let signal = ComplexSignal(32_768)
      for i in 0..<32_768 {
        let angle = 2 * Double.pi * (Double(i) + 0.5) / 32_768
        signal.re[i] = Double(ear[5000 + i]) * (0.42 - 0.5 * cos(angle) + 0.08 * cos(2 * angle))
      }
      signal.transform(sign: -1)
      var (near, far) = (0.0, 0.0)
      for k in 0..<16_384 {
        let energy = signal.re[k] * signal.re[k] + signal.im[k] * signal.im[k]
        if abs(Double(k) * 48_000 / 32_768 - hertz) < 100 { near += energy } else { far += energy }
      }
      #expect(10 * log10(far / near) < -25)
    }
  }

  @Test func diffuseSoundIsAsAccurateAsLinearDecoding() throws {
    let every = max(1, Self.directions.count / 60)
    let scene = ParametricScene(
      stride(from: 0, to: Self.directions.count, by: every).map { ($0, noise(24000)) })
    let truth = EarBands(scene.truth)
    let (heard, linear) = (EarBands(try scene.decoded()), EarBands(try scene.linear()))
    var errors = (level: 0.0, linearLevel: 0.0, coherence: 0.0, linearCoherence: 0.0)
    for band in EarBands.centres.indices {
      for ear in 0..<2 {
        errors.level += abs(heard.level(ear, band, over: truth))
        errors.linearLevel += abs(linear.level(ear, band, over: truth))
      }
      errors.coherence += abs(heard.coherence(band) - truth.coherence(band))
      errors.linearCoherence += abs(linear.coherence(band) - truth.coherence(band))
    }
    let bands = Double(EarBands.centres.count)
    #expect(errors.level < errors.linearLevel + 0.1 * 2 * bands)
    #expect(errors.coherence < errors.linearCoherence + 0.02 * bands)
  }

  @Test func clickHasNoPreEcho() throws {
    var sound = [Float](repeating: 0, count: 6000)
    sound[2100] = 1
    let scene = ParametricScene([(Self.randomSource(), sound)])
    let heard = try scene.decoded()
    #expect(residualDecibels(heard, scene.truth) < -13)
    let early = heard.map { Array($0[..<2100]) }
    #expect(early.joined().allSatisfy { abs($0) < 1e-3 })
  }

  @Test func silenceRendersSilence() throws {
    var sound = noise(12000)
    for n in 3000..<12000 { sound[n] = 0 }
    let heard = try ParametricScene([(Self.randomSource(), sound)]).decoded()
    #expect(heard.joined().contains { abs($0) > 0.01 })
    for ear in heard { #expect(ear[5000...].allSatisfy { $0 == 0 }) }
    let nothing = ParametricScene([(0, [Float](repeating: 0, count: 2000))])
    #expect(try nothing.decoded().joined().allSatisfy { $0 == 0 })
  }

  /// Checks that sound without any direction is left to the linear decoder, which needs no invented
  /// direction.
  @Test func soundInWAloneIsDecodedLinearly() throws {
    var random = SeededGenerator.forTest()
    var scene = ParametricScene([(0, noise(8000))])
    let faint: Float = 1e-4
    scene.field = PlanarSignal(channelCount: 4, frames: 8000) { [field = scene.field] c, n in
      c == 0 ? field[0][n] : Float.random(in: -faint...faint, using: &random)
    }
    #expect(residualDecibels(try scene.decoded(), try scene.linear()) < -25)
  }

  /// Checks that the same sound from two sides at once is not treated as two waves.
  @Test func identicalSoundsFromBothSidesStayBalanced() throws {
    let sound = noise(8000)
    let left = ParametricScene.finer.nearestDirection(to: SIMD3(0.5, 0.866, 0))
    let right = ParametricScene.finer.nearestDirection(to: SIMD3(0.5, -0.866, 0))
    let scene = ParametricScene([(left, sound), (right, sound)])
    let (heard, truth) = (EarBands(try scene.decoded()), EarBands(scene.truth))
    for band in EarBands.centres.indices {
      let balance = heard.level(0, band, over: truth) - heard.level(1, band, over: truth)
      #expect(abs(balance) < 1.5)
    }
  }

  @Test func outputIsIndependentOfCallSize() throws {
    let (a, b) = Self.randomPair()
    let scene = ParametricScene([(a, noise(5000)), (b, noise(5000))])
    func head(_ point: Int) -> Quaternion {
      YawPitchRoll(yaw: Double(point), pitch: 10, roll: Double(point) / 3).quaternion
    }
    let whole = try scene.decoded(sizes: [5512], head: head)
    #expect(try scene.decoded(sizes: [1, 300, 64, 7, 1024], head: head) == whole)
  }

  /// Checks that turning the field to the left equals turning the head to the right.
  @Test func headTurnEqualsOppositeFieldTurn() throws {
    var random = SeededGenerator.forTest()
    let turn = randomTurn(using: &random)
    let (a, b) = Self.randomPair()
    let scene = ParametricScene([
      (a, noise(6000)), (b, noise(6000)), (Self.randomSource(), noise(6000)),
    ])
    var turned = scene
    let rotator = SoundfieldRotator(order: 1)
    let from = AlignedFloats(count: 4 * 6000)
    let to = AlignedFloats(count: 4 * 6000)
    for c in 0..<4 { for n in 0..<6000 { from.pointer[c * 6000 + n] = scene.field[c][n] } }
    let grid = PoseGrid(longestCall: 6000)
    rotator.process(
      input: from.pointer, output: to.pointer, stride: 6000, frames: 6000,
      poses: grid.take(grid.points(forNext: 6000).map { _ in turn }, forNext: 6000))
    turned.field = PlanarSignal(channelCount: 4, frames: 6000) { to.pointer[$0 * 6000 + $1] }
    let byHead = try scene.decoded { _ in turn }
    #expect(residualDecibels(try turned.decoded(), byHead) < -80)
  }

  /// Checks that a tone stays a tone while the head turns at 200 degrees per second.
  @Test func headTurnCausesNoClicks() throws {
    let sound = (0..<24000).map { 0.5 * Float(sin(2 * .pi * 500 * Double($0) / 48000)) }
    let scene = ParametricScene([(Self.randomSource(), sound)])
    let heard = try scene.decoded { point in
      YawPitchRoll(yaw: 200 * Double(point) * 16 / 48000, pitch: 0, roll: 0).quaternion
    }
    for ear in heard {
      let steady = ear[2000..<22000]
      let peak = steady.reduce(0) { max($0, abs($1)) }
      var roughness: Float = 0
      for n in steady.indices.dropFirst().dropLast() {
        roughness = max(roughness, abs(ear[n + 1] - 2 * ear[n] + ear[n - 1]))
      }
      // The second difference of the tone alone is its peak times the square of 2 pi 500 / 48000.
      #expect(roughness < 1.3 * peak * 0.00428)
    }
  }
}
