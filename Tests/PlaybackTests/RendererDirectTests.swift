// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import Playback
import TestSupport
import Testing

/// Loudspeakers rendered with responses of their own directions.
@Suite struct RendererDirectTests {
  private static let filters = Result {
    BinauralFilters(
      direct: try DirectDesign().bank(for: SyntheticHead.set), sampleRate: testRate)
  }

  private func renderer(_ speakers: [Speaker], blockFrames: Int = 64) throws -> Renderer {
    Renderer(
      layout: .speakers(speakers), filters: try Self.filters.get(), busOrder: 5,
      blockFrames: blockFrames)
  }

  @Test func outputIsIndependentOfTheBlockSize() throws {
    let input = noise(channels: 6, frames: 900)
    let whole = render(
      input, with: try renderer(surround51), sizes: [900], head: turningHead)
    for sizes in [[1], [64], [77, 5]] {
      for blockFrames in [32, 256] {
        let ears = render(
          input, with: try renderer(surround51, blockFrames: blockFrames), sizes: sizes,
          head: turningHead)
        #expect(residualDecibels(ears, whole) < -120)
      }
    }
  }

  /// The ears have the patterns 1 + y/2 and 1 - y/2. The head has no size, but sound arrives as at
  /// a sphere.
  @Test func earLevelsFollowThePatternOfTheHead() throws {
    let frames = 4000
    let tone = PlanarSignal(channelCount: 2, frames: frames) { channel, frame in
      channel == 0 ? Float(sin(2 * .pi * 200 * Double(frame) / testRate)) : 0
    }
    let ears = render(tone, with: try renderer([.frontLeft, .frontRight]))
    func level(_ ear: [Float]) -> Double {
      ear.dropFirst(1000).reduce(0) { $0 + Double($1) * Double($1) }.squareRoot()
    }
    // At 30 degrees y is 0.5. Such early responses lose a little to the sphere's arrival times.
    #expect(abs(level(ears[0]) / level(ears[1]) - 1.25 / 0.75) < 0.06)
  }

  @Test func lfeIsIndependentOfThePose() throws {
    let sound = PlanarSignal(channelCount: 6, frames: 3000) { channel, frame in
      channel == 3 ? 0.1 * Float(sin(2 * .pi * 40 * Double(frame) / testRate)) : 0
    }
    let still = render(sound, with: try renderer(surround51))
    let turning = render(sound, with: try renderer(surround51), head: turningHead)
    #expect(still == turning)
    #expect(still[0] == still[1])
    #expect(peak(still[0].dropFirst(1500)) > 0.25)
    let alone = PlanarSignal(channelCount: 1, frames: 3000) { sound[3 + $0][$1] }
    #expect(render(alone, with: try renderer([.lowFrequency])) == still)
  }
}
