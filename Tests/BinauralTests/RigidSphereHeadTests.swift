// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import Binaural

@Suite("The rigid-sphere head")
struct RigidSphereHeadTests {
  private static let radius = 0.0875
  private static let c = 343.0
  private let plane = SphereTransferFunction(
    radius: radius, sourceDistance: .infinity, speedOfSound: c)

  @Test(
    "The recurrence matches the series of spherical Bessel functions",
    arguments: [Double.infinity, 100, 2, 0.3, 0.14])
  func recurrenceMatchesTheBesselSeries(distance: Double) {
    let sphere = SphereTransferFunction(
      radius: Self.radius, sourceDistance: distance, speedOfSound: Self.c)
    for frequency in [20.0, 200, 1_000, 5_000, 16_000, 24_000] {
      for angle in stride(from: 0.0, through: 180, by: 15) {
        let cosine = cos(angle * .pi / 180)
        let found = sphere.value(frequency: frequency, cosine: cosine)
        let k = 2 * .pi * frequency / Self.c
        let expected = BesselSeries(ka: k * Self.radius, kr: k * distance).pressure(cosine: cosine)
        #expect(differenceDecibels((found.re, found.im), (expected.re, expected.im)) < -120)
      }
    }
  }

  @Test("At low frequencies, a plane wave is unchanged")
  func lowFrequencyPlaneWaveIsUnchanged() {
    for cosine in [-1.0, -0.3, 0, 0.8, 1] {
      let value = plane.value(frequency: 1, cosine: cosine)
      #expect(abs(20 * log10(value.magnitude)) < 0.001)
    }
    #expect(plane.value(frequency: 0, cosine: 0.5) == .init(re: 1, im: 0))
  }

  @Test("At high frequencies, the pressure doubles on the near side")
  func highFrequencyPressureDoublesOnTheNearSide() {
    let level = 20 * log10(plane.value(frequency: 200_000, cosine: 1).magnitude)
    #expect(abs(level - 6.02) < 0.1)
  }

  @Test("The transfer function is continuous at frequency zero", arguments: [0.2, 1.0])
  func transferFunctionIsContinuousAtFrequencyZero(distance: Double) {
    let sphere = SphereTransferFunction(
      radius: Self.radius, sourceDistance: distance, speedOfSound: Self.c)
    for cosine in [-1.0, 0.1, 1] {
      let atZero = sphere.value(frequency: 0, cosine: cosine)
      let nearZero = sphere.value(frequency: 0.01, cosine: cosine)
      #expect(abs(atZero.re - nearZero.re) < 1e-4 && abs(nearZero.im) < 1e-4)
    }
  }

  /// A head with its ears at the sides, for which the textbook formulas hold.
  private static let sideEars: HRTFSet = {
    var head = RigidSphereHead()
    head.earAzimuth = 90
    head.ringSpacing = 15
    return head.hrtfSet(sampleRate: 48_000)
  }()

  /// Returns the phase delay of an ear at a low frequency, in seconds.
  private func phaseDelay(_ set: HRTFSet, _ direction: Int, ear: Int, _ frequency: Double) -> Double
  {
    let h = transfer(
      set.impulseResponse(direction: direction, ear: ear), sampleRate: set.sampleRate,
      frequency: frequency)
    // Measure relative to the centre of the head, so that the phase does not wrap.
    let centre = RigidSphereHead.centreArrivalMilliseconds / 1000
    let turn = 2 * Double.pi * frequency * centre
    return centre - atan2(h.im * cos(turn) + h.re * sin(turn), h.re * cos(turn) - h.im * sin(turn))
      / (2 * .pi * frequency)
  }

  @Test("ITD at low frequencies is 3 a / c sin(azimuth)", arguments: [15.0, 45, 90, -60])
  func lowFrequencyITDMatchesTheSphereFormula(azimuth: Double) {
    let set = Self.sideEars
    let index = set.nearestDirection(to: Direction(azimuth: azimuth).unitVector)
    let side = set.directions[index].y
    let itd = phaseDelay(set, index, ear: 1, 100) - phaseDelay(set, index, ear: 0, 100)
    #expect(abs(itd - 3 * Self.radius / Self.c * side) < 0.02 * 3 * Self.radius / Self.c)
  }

  @Test("ITD at high frequencies is Woodworth's a / c (angle + sin(angle))")
  func highFrequencyITDMatchesWoodworth() {
    let set = Self.sideEars
    for azimuth in [30.0, 60, 90] {
      let index = set.nearestDirection(to: Direction(azimuth: azimuth).unitVector)
      let angle = asin(set.directions[index].y)
      let (left, right) = (groupDelay(set, index, ear: 0), groupDelay(set, index, ear: 1))
      let woodworth = Self.radius / Self.c * (angle + sin(angle))
      #expect(abs((right - left) / woodworth - 1) < 0.06)
    }
  }

  private func groupDelay(_ set: HRTFSet, _ direction: Int, ear: Int) -> Double {
    let response = set.impulseResponse(direction: direction, ear: ear)
    let steps = 60
    var total = 0.0
    var last = transfer(response, sampleRate: 48_000, frequency: 6_000)
    for step in 1...steps {
      let next = transfer(response, sampleRate: 48_000, frequency: 6_000 + 100 * Double(step))
      total -= atan2(
        next.im * last.re - next.re * last.im, next.re * last.re + next.im * last.im)
      last = next
    }
    return total / (2 * .pi * 100 * Double(steps))
  }

  @Test(
    "The responses have the transfer functions of the sphere",
    arguments: [16_000.0, 44_100, 48_000, 96_000])
  func responsesReproduceTheSphereTransferFunction(sampleRate: Double) {
    var head = RigidSphereHead()
    head.ringSpacing = 30
    let set = head.hrtfSet(sampleRate: sampleRate)
    let limit = min(sampleRate / 2, 24_000) * 0.84
    // With a lower band limit the response rings longer before its start, and ringing before t = 0
    // is cut off.
    let tolerance = sampleRate < 44_100 ? -35.0 : -55
    let centre = RigidSphereHead.centreArrivalMilliseconds / 1000
    let ears = [100.0, -100].map { Direction(azimuth: $0).unitVector }
    for index in stride(from: 0, to: set.directions.count, by: 5) {
      for ear in 0..<2 {
        for frequency in [30.0, 300, 3_000, limit / 2, limit] where frequency <= limit {
          let cosine = (set.directions[index] * ears[ear]).sum()
          let truth = plane.value(frequency: frequency, cosine: cosine)
          let (c, s) = (
            cos(2 * .pi * frequency * centre), -sin(2 * .pi * frequency * centre)
          )
          let found = transfer(
            set.impulseResponse(direction: index, ear: ear), sampleRate: sampleRate,
            frequency: frequency)
          let error = differenceDecibels(
            found, (truth.re * c - truth.im * s, truth.re * s + truth.im * c))
          #expect(error < tolerance, "\(frequency) Hz, ear \(ear), direction \(index)")
        }
      }
    }
  }

  @Test("Left and right responses mirror each other within 1e-6")
  func leftAndRightResponsesMirrorEachOther() {
    let set = Self.sideEars
    for (index, direction) in set.directions.enumerated() {
      let mirrored = set.nearestDirection(to: direction * SIMD3(1, -1, 1))
      let left = set.impulseResponse(direction: index, ear: 0)
      let right = set.impulseResponse(direction: mirrored, ear: 1)
      #expect(zip(left, right).allSatisfy { abs($0 - $1) < 1e-6 })
    }
  }

  @Test("Directions are evenly spread unit vectors and include the axes")
  func directionsAreEvenlySpreadAndIncludeTheAxes() {
    let rings = RigidSphereHead.rings(spacing: 5)
    #expect((1_000...2_000).contains(rings.count))
    #expect(rings.allSatisfy { abs($0.length - 1) < 1e-12 })
    let cells = SphericalVoronoi(rings)
    #expect(cells.largestGap * 180 / .pi < 3.8)
    let mean = 4 * Double.pi / Double(rings.count)
    #expect(cells.areas.allSatisfy { $0 > 0.6 * mean && $0 < 1.6 * mean })
    for axis in [SIMD3(1.0, 0, 0), SIMD3(0, 1, 0), SIMD3(-1, 0, 0), SIMD3(0, 0, -1)] {
      #expect(rings.contains { ($0 - axis).length < 1e-9 })
    }
  }

  @Test("HRTF/rigid-sphere.json contains the parameters of the generator")
  func parametersFileMatchesTheGenerator() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let text = String(decoding: try fileBytes(root + "/HRTF/rigid-sphere.json"), as: UTF8.self)
    #expect(text == RigidSphereHead().parametersJSON)
  }
}
