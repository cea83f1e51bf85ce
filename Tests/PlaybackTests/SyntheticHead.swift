// SPDX-License-Identifier: Apache-2.0

import Binaural
import Glibc

/// A head without size: sound from any direction reaches both ears at the same time, and is louder
/// at the near ear.
enum SyntheticHead {
  /// The delay of every response, in frames.
  static let delayFrames = 5

  /// Ears with the patterns 1 + y/2 and 1 - y/2, which first order represents exactly.
  static let set: HRTFSet = {
    // Points of a Fibonacci spiral, dense enough that the design finds no gap to fill.
    let count = 300
    let directions = (0..<count).map { i -> SIMD3<Double> in
      let z = 1 - (2 * Double(i) + 1) / Double(count)
      let azimuth = Double(i) * .pi * (3 - 5.0.squareRoot())
      let r = (1 - z * z).squareRoot()
      return SIMD3(r * cos(azimuth), r * sin(azimuth), z)
    }
    let taps = 16
    let sides: [Double] = [1, -1]
    var responses: [Float] = []
    for direction in directions {
      for side in sides {
        var response = [Float](repeating: 0, count: taps)
        response[delayFrames] = Float(1 + side * direction.y / 2)
        responses += response
      }
    }
    return HRTFSet(
      name: "synthetic", sampleRate: testRate, directions: directions, radius: .infinity,
      taps: taps, impulseResponses: responses, delays: [Double](repeating: 0, count: 2 * count))
  }()

  /// Least squares reproduces first order exactly. The other designs only have the same delay.
  static let filters = Result {
    try DecoderDesign(method: .leastSquares, order: 1).filters(for: set)
  }
}
