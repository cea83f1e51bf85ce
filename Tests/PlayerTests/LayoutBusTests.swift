// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import Surround
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct LayoutBusTests {
  private static let five: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ]
  private static let backs: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
  ]
  private static let seven: [Speaker] = five + [.backLeft, .backRight]
  private static let tops: [Speaker] = [.topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight]

  @Test func busCoversTheExpectedLayouts() {
    let bus = LayoutBus.bus
    #expect(bus([.stereo]) == .stereo)
    #expect(bus([.speakers(Self.five), .speakers(Self.five)]) == .speakers(Self.five))
    #expect(Self.set(bus([.stereo, .speakers(Self.five)])) == Set(Self.five))
    #expect(Self.set(bus([.mono, .stereo])) == [.frontLeft, .frontRight, .frontCenter])
    // A single pair of surrounds is the same pair under either name.
    #expect(Self.set(bus([.speakers(Self.backs), .speakers(Self.five)])) == Set(Self.backs))
    #expect(
      Self.set(bus([.speakers(Self.five), .speakers(Self.seven + Self.tops)]))
        == Set(Self.seven + Self.tops))
    let first = ChannelLayout.ambisonics(order: 1, convention: .fuMa, headLocked: false)
    #expect(bus([first]) == first)
    #expect(
      bus([first, .stereo, .ambisonics(order: 3, convention: .ambiX, headLocked: true)])
        == .ambisonics(order: 3, convention: .ambiX, headLocked: true))
  }

  private static func set(_ layout: ChannelLayout) -> Set<Speaker> {
    if case .speakers(let speakers) = layout { Set(speakers) } else { [] }
  }

  private static let wide: [ChannelLayout] = [
    .speakers(five), .speakers(seven), .speakers(seven + tops),
    .speakers([.frontLeft, .frontRight, .backLeft, .backRight]),
  ]

  /// Every loudspeaker of a layout with side and back surrounds keeps its energy, and its direction
  /// as far as the bus permits.
  @Test(arguments: wide) func speakerEnergyAndDirectionArePreserved(bus: ChannelLayout) {
    guard case .speakers(let targets) = bus else {
      Issue.record("\(bus.name) is no bed of loudspeakers")
      return
    }
    let places = targets.map { $0.direction(in: targets)?.unitVector }
    for speaker in Speaker.allCases {
      let layout = [speaker, .frontCenter, .sideLeft, .backLeft].removingDuplicates
      let gains = LayoutBus.gains(from: .speakers(layout), to: bus).map { $0[0] }
      guard let place = speaker.direction(in: layout)?.unitVector else {
        let effects = targets.firstIndex(of: .lowFrequency)
        #expect(gains.reduce(0, +) == (effects == nil ? 0 : 1))
        continue
      }
      #expect(abs(gains.reduce(0) { $0 + $1 * $1 } - 1) < 1e-9, "\(speaker)")
      let energy = zip(gains, places).reduce(SIMD3<Double>()) { sum, pair in
        sum + (pair.1 ?? SIMD3()) * pair.0 * pair.0
      }
      // Left stays left, and right stays right; so do front and back if the bus has both.
      if abs(place.y) > 0.1 { #expect(energy.y * place.y > 0, "\(speaker)") }
      if abs(place.y) < 1e-9 { #expect(abs(energy.y) < 1e-9, "\(speaker)") }
      if abs(place.z) < 1e-9, abs(place.x) > 0.2 {
        #expect(energy.x * place.x > 0, "\(speaker) on \(bus.name)")
      }
    }
  }

  /// The surrounds of 5.1 are between those of 7.1, at the angle of the tangent law.
  @Test func surroundsArePannedBetweenNeighbours() {
    let gains = LayoutBus.gains(from: .speakers(Self.five), to: .speakers(Self.seven))
    let (side, back) = (gains[4][4], gains[6][4])
    let velocity = SIMD2(
      side * cos(Double.pi / 2) + back * cos(0.75 * .pi),
      side * sin(.pi / 2) + back * sin(0.75 * .pi))
    #expect(abs(atan2(velocity.y, velocity.x) * 180 / .pi - 110) < 1e-9)
    for channel in 0..<4 { #expect(gains[channel][channel] == 1) }
  }

  @Test func stereoFoldDownFollowsBS775() {
    let half = 0.5.squareRoot()
    let gains = LayoutBus.gains(from: .speakers(Self.five), to: .stereo)
    #expect(gains == [[1, 0, half, 0, half, 0], [0, 1, half, 0, 0, half]])
    #expect(LayoutBus.gains(from: .mono, to: .stereo) == [[half], [half]])
    #expect(LayoutBus.gains(from: .stereo, to: .mono) == [[0.5, 0.5]])
  }

  /// On an ambisonic bus, a loudspeaker is encoded at its position in its own layout.
  @Test func speakersAreEncodedInASoundfieldBus() {
    let bus = ChannelLayout.ambisonics(order: 3, convention: .ambiX, headLocked: true)
    let gains = LayoutBus.gains(from: .speakers(Self.five), to: bus)
    for (input, azimuth) in [(0, 30.0), (2, 0), (4, 110), (5, -110)] {
      let truth = SphericalHarmonics.evaluate(order: 3, Direction(azimuth: azimuth).unitVector)
      for channel in 0..<16 { #expect(abs(gains[channel][input] - truth[channel]) < 1e-12) }
    }
    #expect(gains[16][3] == Treatment.lowFrequencyGain && gains[17][3] == gains[16][3])
  }

  /// A lower order enters a higher bus unchanged, in the scale of the bus.
  @Test func lowerOrderEntersAHigherOrderBusUnchanged() {
    let bus = ChannelLayout.ambisonics(order: 2, convention: .ambiX, headLocked: false)
    let gains = LayoutBus.gains(
      from: .ambisonics(order: 1, convention: .n3d, headLocked: false), to: bus)
    #expect(abs(gains[0][0] - 1) < 1e-12 && abs(gains[3][3] - 1 / 3.0.squareRoot()) < 1e-12)
    #expect(gains[4].allSatisfy { $0 == 0 })
  }

  /// A plane wave on a bus of loudspeakers is loudest in its own direction.
  @Test func planeWaveIsLoudestAtTheSpeakerInItsDirection() {
    let field = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let gains = LayoutBus.gains(from: field, to: .speakers(Self.five))
    for (output, azimuth) in [(0, 30.0), (1, -30), (4, 110), (5, -110)] {
      let wave = SphericalHarmonics.evaluate(order: 1, Direction(azimuth: azimuth).unitVector)
      let levels = gains.map { row in zip(row, wave).reduce(0) { $0 + $1.0 * $1.1 } }
      #expect(levels.max() == levels[output])
    }
    #expect(gains[3].allSatisfy { $0 == 0 })
  }
}

extension [Speaker] {
  fileprivate var removingDuplicates: [Speaker] {
    reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
