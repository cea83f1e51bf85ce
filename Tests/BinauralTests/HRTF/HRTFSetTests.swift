// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import Binaural

@Suite("HRTF sets from SOFA files")
struct HRTFSetTests {
  private func load(_ name: String) throws -> HRTFSet {
    try SofaLoader().load(HRTFFixtures.shared.path(name))
  }

  /// The grid of make_sofa.py.
  private static let grid: [SIMD3<Double>] =
    [
      Direction(azimuth: 0, elevation: -90), Direction(azimuth: 0, elevation: 90),
    ].map(\.unitVector)
    + [-60.0, -30, 0, 30, 60].flatMap { elevation in
      (0..<12).map { Direction(azimuth: Double($0) * 30, elevation: elevation).unitVector }
    }

  @Test(
    "Equivalent files give the same directions and ears",
    arguments: [
      "plain", "contiguous", "cartesian-source", "radians", "turned-listener", "spherical-view",
      "views-per-measurement", "parallel-up", "delay-missing", "swapped-receivers",
      "swapped-channels", "right-ear-first", "latin1-text",
    ])
  func equivalentFilesGiveTheSameSet(name: String) throws {
    let set = try load(name)
    try #require(set.directions.count == Self.grid.count)
    for (direction, expected) in zip(set.directions, Self.grid) {
      #expect((direction - expected).length < 2e-6)
    }
    #expect(abs(set.radius - 1.5) < 1e-6)
    #expect(set.sampleRate == 48_000)
    #expect(set.taps == 64)
    #expect(set.delays.allSatisfy { $0 == 0 })
    for (index, direction) in set.directions.enumerated() {
      for (ear, side) in [direction.y, -direction.y].enumerated() {
        let response = Array(set.impulseResponse(direction: index, ear: ear))
        let peak = response.max() ?? 0
        #expect(abs(20 * log10(Double(peak)) - 9 * side) < 1e-3)
        // A half sample may be rounded up or down.
        let place = Double(response.firstIndex(of: peak) ?? -1)
        #expect(abs(place - (20 - 8 * side)) < 0.5001)
      }
    }
  }

  @Test("Ears are identified by lateral levels, and contradictions are noted")
  func earsAreIdentifiedByLateralLevels() throws {
    #expect(try load("plain").notes.isEmpty)
    #expect(try load("right-ear-first").notes.isEmpty)
    let receivers = try load("swapped-receivers").notes.joined()
    #expect(receivers.contains("declares that channel 0 is the right ear"))
    #expect(receivers.contains("show that it is the left ear"))
    let channels = try load("swapped-channels").notes.joined()
    #expect(channels.contains("declares that channel 0 is the left ear"))
    #expect(channels.contains("show that it is the right ear"))
    #expect(try load("no-lateral-levels").notes.joined().contains("do not distinguish the ears"))
  }

  @Test("Other irregularities are noted")
  func otherIrregularitiesAreNoted() throws {
    #expect(try load("delay-missing").notes.joined().contains("Data.Delay is missing"))
    #expect(try load("parallel-up").notes.joined().contains("do not define an orientation"))
    #expect(try load("turned-listener").notes.joined().contains("turned"))
    let views = try load("views-per-measurement").notes.joined()
    #expect(views.contains("ListenerView and ListenerUp of 2 measurements are ignored"))
    #expect(views.contains("the listener is turned"))
  }

  @Test("Delays are read per ear or per measurement and ear")
  func delaysAreReadPerEarOrPerMeasurement() throws {
    let pair = try load("delays-per-ear")
    let repeated: [Double] = (0..<pair.directions.count).flatMap { _ in [3, 5.5] }
    #expect(pair.delays == repeated)
    let each = try load("delays-per-measurement")
    let quarters: [Double] = (0..<each.directions.count * 2).map { Double($0) / 4 }
    #expect(each.delays == quarters)
  }

  @Test("The distance with the most directions is used")
  func distanceWithTheMostDirectionsIsUsed() throws {
    let set = try load("two-distances")
    #expect(set.directions.count == 62)
    #expect(abs(set.radius - 1.5) < 1e-6)
    #expect(set.notes.joined().contains("2 distances from 0.30 to 1.50 m"))
  }

  @Test("A tie selects the farthest distance; distances within 5 % count as one")
  func tiesSelectTheFarthestDistance() {
    func shell(_ radii: [Double]) -> DistanceShell { DistanceShell(radii.map { SIMD3($0, 0, 0) }) }
    #expect(shell([1, 2, 1, 2]).indices == [1, 3])
    #expect(shell([1, 1.04, 0.97]).indices == [0, 1, 2])
    #expect(shell([1, 1.04, 0.97]).notes.isEmpty)
  }

  @Test("The default set of libmysofa has its known properties")
  func defaultSetHasItsKnownProperties() throws {
    let set = try SofaLoader().load(defaultSofa())
    #expect(set.name == "MIT KEMAR, normal pinna")
    #expect(set.directions.count == 710)
    #expect(set.taps == 512)
    #expect(set.sampleRate == 44_100)
    #expect(abs(set.radius - 1.4) < 1e-6)
    #expect(set.notes.isEmpty)
    try expectLeftIsLeft(set)
    #expect(abs(set.diffuseFieldLevelDecibels - 3.41) < 0.05)
    #expect(abs(set.normalized().diffuseFieldLevelDecibels) < 1e-4)
    #expect(abs(set.largestGapDegrees - 50) < 0.5)
  }

  @Test(
    "The set in STILLSTAGE_TEST_SOFA is valid",
    .enabled(if: environmentVariable("STILLSTAGE_TEST_SOFA") != nil))
  func setFromTheEnvironmentIsValid() throws {
    let set = try SofaLoader().load(environmentVariable("STILLSTAGE_TEST_SOFA") ?? "")
    try expectLeftIsLeft(set)
    #expect(abs(set.areaWeights.reduce(0, +) - 1) < 1e-12)
    #expect(abs(set.normalized().diffuseFieldLevelDecibels) < 1e-4)
  }

  /// Checks that a source on the left is louder and earlier at the left ear.
  private func expectLeftIsLeft(_ set: HRTFSet) throws {
    let index = set.nearestDirection(to: SIMD3(0, 1, 0))
    try #require(set.directions[index].y > 0.9)
    let left = set.impulseResponse(direction: index, ear: 0)
    let right = set.impulseResponse(direction: index, ear: 1)
    func power(_ response: ArraySlice<Float>) -> Float { response.reduce(0) { $0 + $1 * $1 } }
    func onset(_ response: ArraySlice<Float>) -> Int {
      let peak = response.map(abs).max() ?? 0
      return (response.firstIndex { abs($0) > peak / 3 } ?? 0) - response.startIndex
    }
    #expect(power(left) > 4 * power(right))
    let seconds =
      Double(onset(right) - onset(left)) / set.sampleRate
      + (set.delays[2 * index + 1]
        - set.delays[2 * index]) / set.sampleRate
    #expect(seconds > 0.4e-3 && seconds < 0.9e-3)
  }
}
