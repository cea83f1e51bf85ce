// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Testing

@testable import Binaural

/// What a set does not hold must not make its decoder louder.
@Suite struct GapLevelTests {
  /// Sum over channels, ears and 200 Hz to 8 kHz of the squared response to a diffuse field, dB.
  private func diffuseLevel(_ filters: BinauralFilters) -> Double {
    var sum = 0.0
    let frequencies = stride(from: 200.0, to: 8000, by: 100)
    for ear in [filters.left, filters.right] {
      for (channel, taps) in ear.enumerated() {
        let scale = 1 / SphericalHarmonics.n3dOverSN3D(channel: channel)
        for hertz in frequencies {
          let step = 2 * Double.pi * hertz / filters.sampleRate
          var (re, im) = (0.0, 0.0)
          for (n, tap) in taps.enumerated() {
            re += Double(tap) * cos(step * Double(n))
            im += Double(tap) * sin(step * Double(n))
          }
          sum += (re * re + im * im) * scale * scale
        }
      }
    }
    return 10 * log10(sum / 2 / Double(Array(frequencies).count))
  }

  /// Rough responses with nothing measured below -40 degrees, as from a laboratory with a floor.
  @Test func aSetWithAGapIsAsLoudAsItsMeasurements() throws {
    var generator = SystemRandomNumberGenerator()
    let directions = fibonacciLattice(count: 500).filter { $0.z > -0.643 }
    var responses: [Float] = []
    for _ in 0..<(2 * directions.count) {
      for n in 0..<64 {
        let decay = Float(exp(-Double(n) / 8))
        responses.append(Float.random(in: -1...1, using: &generator) * decay)
      }
    }
    let set = HRTFSet(
      name: "rough", sampleRate: 48_000, directions: directions, radius: 1, taps: 64,
      impulseResponses: responses, delays: [Double](repeating: 0, count: 2 * directions.count))
    let filters = try DecoderDesign(method: .leastSquares, order: 1).filters(for: set.normalized())
    let level = diffuseLevel(filters)
    #expect(abs(level) < 1)
  }
}
