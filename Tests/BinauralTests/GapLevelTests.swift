// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Testing

@testable import Binaural

/// Checks that unmeasured directions do not make the decoder of a set louder.
@Suite struct GapLevelTests {
  /// Returns the level in a diffuse field in dB: the squared response summed over channels and
  /// averaged over ears and 200 Hz to 8 kHz.
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

  /// KEMAR was measured down to an elevation of -40 degrees.
  @Test(arguments: [1, 5])
  func measurementGapDoesNotChangeTheDiffuseLevel(order: Int) throws {
    let set = try SofaLoader().load(try defaultSofa()).normalized()
    let filters = try DecoderDesign(method: .leastSquares, order: order).filters(for: set)
    let level = diffuseLevel(filters)
    #expect(abs(level) < 1)
  }
}
