// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Geometry
internal import SignalProcessing

/// The frequency responses of a set of directions, bin after bin, for the design of decoders.
///
/// A bin's row holds left real, left imaginary, right real, right imaginary: `lanes` directions
/// each, directions beyond the last being zero with weight zero.
struct DirectionalResponses {
  let sampleRate: Double
  /// The size of the transform; bins 0 to size / 2.
  let size: Int
  /// Unit vectors.
  private(set) var directions: [SIMD3<Double>]
  /// Area weights of the directions, sum 1.
  var weights: [Double]
  private(set) var lanes: Int
  private(set) var values: [Float]

  var bins: Int { size / 2 + 1 }
  var binWidth: Double { sampleRate / Double(size) }

  init(directions: [SIMD3<Double>], weights: [Double], sampleRate: Double, size: Int) {
    self.directions = directions
    self.weights = weights
    self.sampleRate = sampleRate
    self.size = size
    lanes = (directions.count + 7) / 8 * 8
    values = [Float](repeating: 0, count: (size / 2 + 1) * 4 * lanes)
  }

  /// Transforms impulse responses: directions x 2 ears x taps.
  init(
    impulseResponses: [Float], taps: Int, directions: [SIMD3<Double>], weights: [Double],
    sampleRate: Double, size: Int
  ) {
    self.init(directions: directions, weights: weights, sampleRate: sampleRate, size: size)
    let batch = 8
    let fft = RealFFT(size: size, batch: batch)
    let time = AlignedFloats(count: size * batch)
    let re = AlignedFloats(count: fft.bins * batch)
    let im = AlignedFloats(count: fft.bins * batch)
    for first in stride(from: 0, to: directions.count, by: batch / 2) {
      time.clear()
      let count = min(batch / 2, directions.count - first)
      for lane in 0..<(2 * count) {
        let base = (2 * first + lane) * taps
        for n in 0..<min(taps, size) {
          time.pointer[n * batch + lane] = impulseResponses[base + n]
        }
      }
      fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
      for k in 0..<fft.bins {
        for lane in 0..<(2 * count) {
          let at = index(bin: k, ear: lane % 2, direction: first + lane / 2)
          values[at] = re.pointer[k * batch + lane]
          values[at + lanes] = im.pointer[k * batch + lane]
        }
      }
    }
  }

  /// Where the real part lies; the imaginary part follows `lanes` later.
  func index(bin: Int, ear: Int, direction: Int) -> Int {
    (bin * 4 + ear * 2) * lanes + direction
  }

  subscript(bin: Int, ear: Int, direction: Int) -> Complex {
    get {
      let at = index(bin: bin, ear: ear, direction: direction)
      return Complex(Double(values[at]), Double(values[at + lanes]))
    }
    set {
      let at = index(bin: bin, ear: ear, direction: direction)
      values[at] = Float(newValue.re)
      values[at + lanes] = Float(newValue.im)
    }
  }

  /// The delay in seconds that the responses share, by the phase slope of their energy 300-1500 Hz.
  var commonDelay: Double {
    var slope = Complex(0)
    let (low, high) = (bin(ofFrequency: 300), bin(ofFrequency: 1500))
    for k in low..<max(low + 1, high) {
      for ear in 0...1 {
        for d in directions.indices {
          slope += self[k + 1, ear, d] * self[k, ear, d].conjugate * weights[d]
        }
      }
    }
    return -slope.angle / (2 * .pi * binWidth)
  }

  /// Moves every response earlier by so many seconds.
  mutating func advance(by seconds: Double) {
    for k in 0..<bins {
      multiply(bin: k, by: Complex(angle: 2 * .pi * Double(k) * binWidth * seconds))
    }
  }

  /// Multiplies all responses of a bin.
  mutating func multiply(bin k: Int, by factor: Complex) {
    let (a, b) = (Float(factor.re), Float(factor.im))
    for ear in 0...1 {
      let base = (k * 4 + ear * 2) * lanes
      for d in directions.indices {
        let (re, im) = (values[base + d], values[base + lanes + d])
        values[base + d] = re * a - im * b
        values[base + lanes + d] = re * b + im * a
      }
    }
  }

  /// Scales the responses of a bin from a direction on.
  mutating func scale(bin k: Int, from first: Int, by gain: Double) {
    for ear in 0...1 {
      for d in first..<directions.count { self[k, ear, d] = self[k, ear, d] * gain }
    }
  }

  func bin(ofFrequency hertz: Double) -> Int {
    min(bins - 2, max(1, Int((hertz / binWidth).rounded())))
  }

  /// The energy of a bin in the diffuse field, both ears: sum over directions of w |H|^2.
  func diffuseEnergy(bin k: Int) -> Double {
    var sum = 0.0
    for ear in 0...1 {
      for d in directions.indices { sum += weights[d] * self[k, ear, d].squaredMagnitude }
    }
    return sum
  }
}
