// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Binaural
@testable import Laboratory

/// Tests crosstalk cancellation: each ear hears its own signal from two loudspeakers.
@Suite struct CrosstalkTests {
  static let sphere = RigidSphereHead().hrtfSet(sampleRate: 48000)

  @Test(arguments: [8.0, 12, 15, 30])
  func cancellationSeparatesTheEars(degrees: Double) {
    let trial = CrosstalkTrial(set: Self.sphere, angle: degrees * .pi / 180)
    let (without, with) = (
      trial.result(.init(), isCancelling: false), trial.result(.init(), isCancelling: true)
    )
    #expect(with.meanSeparation > 20 && with.meanSeparation > without.meanSeparation + 15)
    #expect(with.colouration < 1.5)
    #expect(with.largestBoost <= 12)
  }

  @Test func cancellationSeparatesTheEarsOfAMeasuredHead() throws {
    let set = try SofaLoader().load(try defaultSofa()).prepared(sampleRate: 48000)
    let trial = CrosstalkTrial(set: set, angle: 12 * .pi / 180)
    let with = trial.result(.init(), isCancelling: true)
    #expect(with.meanSeparation > 20)
    #expect(with.colouration < 2)
    #expect(with.largestBoost <= 12)
    // A displaced head still benefits.
    for head in [
      CrosstalkTrial.Head(offset: SIMD2(0, 0.02)), .init(offset: SIMD2(0.05, 0)),
      .init(turn: 10 * .pi / 180),
    ] {
      let (off, none) = (
        trial.result(head, isCancelling: true), trial.result(head, isCancelling: false)
      )
      #expect(off.meanSeparation > none.meanSeparation + 5)
      #expect(off.meanSeparation < with.meanSeparation)
    }
  }

  /// Checks cancellation with an independent head: the pressure on a sphere by its series, for
  /// loudspeakers at 55 cm.
  @Test func cancellationHoldsForSphericalWaves() {
    let angle = 12 * Double.pi / 180
    let filters = CrosstalkDesign(angle: angle).filters(for: Self.sphere)
    let sphere = SphereTransferFunction(radius: 0.0875, sourceDistance: 0.55, speedOfSound: 343)
    func pressure(_ side: Double, _ ear: Double, _ frequency: Double) -> Complex {
      // The angle between the loudspeaker and the ear, which is 100 degrees from the front.
      let between = 100 * Double.pi / 180 * ear - angle * side
      let value = sphere.value(frequency: frequency, cosine: cos(between))
      return Complex(value.re, value.im)
    }
    var separations: [Double] = []
    for frequency in stride(from: 500.0, to: 6500, by: 100) {
      func feed(_ taps: [Float]) -> Complex {
        let value = transfer(taps[...], sampleRate: 48000, frequency: frequency)
        return Complex(value.re, value.im)
      }
      let (own, other) = (feed(filters.leftEar[0]), feed(filters.leftEar[1]))
      let left = own * pressure(1, 1, frequency) + other * pressure(-1, 1, frequency)
      let right = own * pressure(1, -1, frequency) + other * pressure(-1, -1, frequency)
      separations.append(10 * log10(left.squaredMagnitude / right.squaredMagnitude))
    }
    let mean = separations.reduce(0, +) / Double(separations.count)
    #expect(mean > 15, "\(mean) dB")
  }

  /// Checks that the ears receive the same signals through loudspeakers as with the filters for
  /// headphones, at the same time: the modelling delay is compensated.
  @Test func cancellationPreservesTheDecoderOutputAtTheEars() throws {
    let set = Self.sphere.normalized()
    let plain = try DecoderDesign(order: 3).filters(for: set)
    let cancelling = CrosstalkDesign(angle: 12 * .pi / 180).filters(for: set)
    let crossed = plain.crossed(by: cancelling)
    let size = 4096
    let plant = LoudspeakerPlant(set, .init(angle: 12 * .pi / 180), size: size)
    let gains = SphericalHarmonics.evaluate(order: 3, SIMD3(0.5, 0.7, 0.5))
    func ear(_ filters: [[Float]]) -> [Float] {
      filters[0].indices.map { n in
        zip(gains, filters).reduce(0) { $0 + Float($1.0) * $1.1[n] }
      }
    }
    let (feedLeft, feedRight) = (ear(crossed.left), ear(crossed.right))
    let wanted = [ear(plain.left), ear(plain.right)]
    // The path from the loudspeakers has a gain and a delay of its own, which the test removes.
    var (error, energy) = (0.0, 0.0)
    var slope = Complex(0)
    var last: Complex?
    var heard: [[Complex]] = [[], []]
    var truth: [[Complex]] = [[], []]
    for k in Int(800 / plant.binWidth)..<Int(6000 / plant.binWidth) {
      func spectrum(_ taps: [Float]) -> Complex {
        let value = transfer(
          taps[...], sampleRate: 48000, frequency: Double(k) * plant.binWidth)
        return Complex(value.re, value.im)
      }
      let (l, r) = (spectrum(feedLeft), spectrum(feedRight))
      for e in 0...1 {
        heard[e].append(l * plant.values[0][e][k] + r * plant.values[1][e][k])
        truth[e].append(spectrum(wanted[e]))
      }
      let turn = heard[0][heard[0].count - 1] * truth[0][truth[0].count - 1].conjugate
      if let last { slope += turn * last.conjugate }
      last = turn
    }
    let step = slope.angle
    var gain = Complex(0)
    var norm = 0.0
    for e in 0...1 {
      for k in heard[e].indices {
        let aligned = heard[e][k] * Complex(angle: -step * Double(k))
        gain += aligned * truth[e][k].conjugate
        norm += truth[e][k].squaredMagnitude
      }
    }
    gain = gain * (1 / norm)
    for e in 0...1 {
      for k in heard[e].indices {
        let aligned = heard[e][k] * Complex(angle: -step * Double(k))
        let rest = aligned + truth[e][k] * gain * -1
        error += rest.squaredMagnitude
        energy += aligned.squaredMagnitude
      }
    }
    #expect(10 * log10(error / energy) < -15, "\(10 * log10(error / energy)) dB")
    // The delay of the path: the responses have sound at the centre of the sphere at 1.25 ms, and
    // at the near ear earlier.
    let seconds = -step / (2 * .pi * plant.binWidth)
    #expect(abs(seconds - 1.25e-3) < 0.3e-3, "\(seconds * 1000) ms")
    #expect(crossed.taps <= plain.taps + cancelling.leftEar[0].count)
  }

  @Test func cancellationPreservesMirrorSymmetry() throws {
    let set = Self.sphere.normalized()
    let plain = try DecoderDesign(order: 2).filters(for: set)
    let crossed = plain.crossed(by: CrosstalkDesign(angle: 0.2).filters(for: set))
    func isSymmetric(_ filters: BinauralFilters) -> Bool {
      BinauralDecoder(filters: filters, partition: 64).isSymmetric
    }
    #expect(isSymmetric(plain) && isSymmetric(crossed))
  }

  @Test func directDecoderAppliesTheCancellation() throws {
    let set = Self.sphere.normalized()
    let cancelling = CrosstalkDesign(angle: 12 * .pi / 180).filters(for: set)
    let bank = try DirectDesign().bank(for: set)
    let plain = BinauralFilters(direct: bank, sampleRate: 48000)
    let crossed = plain.crossed(by: cancelling)
    func play(_ filters: BinauralFilters) -> [[Float]] {
      let decoder = BinauralDecoder(
        filters: filters, speakers: [SIMD3(0.6, 0.8, 0)], partition: 64)
      let x = PlanarSignal(channelCount: 1, frames: 3000) { $1 == 100 ? 1 : 0 }
      let ears = PlanarSignal(channelCount: 2, frames: 3000)
      let grid = PoseGrid(longestCall: 3000)
      let poses = grid.points(forNext: 3000).map { _ in Quaternion.identity }
      decoder.process(
        input: x.channels, frames: 3000, poses: grid.take(poses, forNext: 3000), left: ears[0],
        right: ears[1])
      return ears.arrays
    }
    let (ears, feeds) = (play(plain), play(crossed))
    let truth = cancelling.behind([ears[0]], [ears[1]])
    for (found, wanted) in [(feeds[0], truth.left[0]), (feeds[1], truth.right[0])] {
      var (error, energy) = (0.0, 0.0)
      for (a, b) in zip(found, wanted) {
        error += Double(a - b) * Double(a - b)
        energy += Double(b) * Double(b)
      }
      #expect(10 * log10(error / energy) < -40, "\(10 * log10(error / energy)) dB")
    }
  }
}
