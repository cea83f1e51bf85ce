// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Geometry
internal import SignalProcessing

/// The frequency responses of both ears to sound from several directions, bin by bin.
///
/// The row of a bin in `values` contains the left real, left imaginary, right real and right
/// imaginary parts. Each part has `lanes` elements: one for each direction, then zeros up to a
/// multiple of 8.
struct DirectionalResponses {
  let sampleRate: Double
  /// The size of the transform; the bins are 0 to size / 2.
  let size: Int
  /// Unit vectors to the sources.
  private(set) var directions: [SIMD3<Double>]
  /// The weight of each direction in sums over the directions. Weights that represent areas add up
  /// to 1.
  var weights: [Double]
  private(set) var lanes: Int
  private(set) var values: [Float]

  /// Returns the smallest power of two that is at least 1024 and at least four times `taps` (twice
  /// `taps` above 4096 taps).
  static func transformSize(taps: Int) -> Int {
    var size = 1024
    while size < (taps <= 4096 ? 4 : 2) * taps { size *= 2 }
    return size
  }

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

  /// Computes the responses from impulse responses (directions x 2 ears x taps).
  init(
    impulseResponses: [Float], taps: Int, directions: [SIMD3<Double>], weights: [Double],
    sampleRate: Double, size: Int
  ) {
    self.init(directions: directions, weights: weights, sampleRate: sampleRate, size: size)
    let (count, lanes) = (directions.count, lanes)
    values.withUnsafeMutableBufferPointer { values in
      let target = SharedMemory(floats: values.baseAddress!)
      concurrently(2) { ear in
        transformResponses(
          impulseResponses, taps, ear: ear, count: count, lanes: lanes, size: size,
          into: target.floats)
      }
    }
  }

  /// Returns the index of a real part in `values`. The imaginary part is `lanes` elements after
  /// the real part.
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

  /// The common delay of the responses, in s, computed from their mean phase slope between 300 and
  /// 1500 Hz. The mean is weighted by energy and by `weights`.
  var commonDelay: Double {
    var slope = Complex(0)
    let (low, high) = (bin(ofFrequency: 300), bin(ofFrequency: 1500))
    for k in low..<max(low + 1, high) {
      for ear in 0...1 {
        withRow(bin: k, ear: ear) { row in
          let next = row + 4 * lanes
          for d in directions.indices {
            let now = Complex(Double(row[d]), Double(row[lanes + d]))
            slope += Complex(Double(next[d]), Double(next[lanes + d])) * now.conjugate * weights[d]
          }
        }
      }
    }
    return -slope.angle / (2 * .pi * binWidth)
  }

  mutating func advance(by seconds: Double) {
    for k in 0..<bins {
      multiply(bin: k, by: Complex(angle: 2 * .pi * Double(k) * binWidth * seconds))
    }
  }

  mutating func multiply(bin k: Int, by factor: Complex) {
    let (a, b, lanes) = (Float(factor.re), Float(factor.im), lanes)
    values.withUnsafeMutableBufferPointer { values in
      for ear in 0...1 {
        let re = values.baseAddress! + (k * 4 + ear * 2) * lanes
        let im = re + lanes
        for d in 0..<lanes {
          let (x, y) = (re[d], im[d])
          re[d] = x * a - y * b
          im[d] = x * b + y * a
        }
      }
    }
  }

  /// Multiplies an ear's responses in a bin by factors, one for each direction.
  mutating func multiply(bin k: Int, ear: Int, by factors: [Complex]) {
    let lanes = lanes
    values.withUnsafeMutableBufferPointer { values in
      let re = values.baseAddress! + (k * 4 + ear * 2) * lanes
      for (d, factor) in factors.enumerated() {
        let value = Complex(Double(re[d]), Double(re[lanes + d])) * factor
        re[d] = Float(value.re)
        re[lanes + d] = Float(value.im)
      }
    }
  }

  /// Calls `body` with a pointer to an ear's elements in a bin's row: `lanes` real parts, then
  /// `lanes` imaginary parts. The elements that follow in `values` can also be read.
  func withRow<Result>(
    bin: Int, ear: Int, _ body: (UnsafePointer<Float>) -> Result
  ) -> Result {
    values.withUnsafeBufferPointer { body($0.baseAddress! + (bin * 4 + ear * 2) * lanes) }
  }

  /// Scales the responses of a bin for all directions from `first` on.
  mutating func scale(bin k: Int, from first: Int, by gain: Double) {
    for ear in 0...1 {
      for d in first..<directions.count { self[k, ear, d] = self[k, ear, d] * gain }
    }
  }

  func bin(ofFrequency hertz: Double) -> Int {
    min(bins - 2, max(1, Int((hertz / binWidth).rounded())))
  }

  /// Returns a bin's energy in the diffuse field: the sum over directions and both ears of w |H|^2
  /// (weight w, response H).
  func diffuseEnergy(bin k: Int) -> Double {
    let covariance = diffuseCovariance(bin: k)
    return covariance.left + covariance.right
  }

  /// Returns the ears' covariance in the diffuse field: the sum over directions of w H H^H (weight
  /// w, responses H of both ears, conjugate transpose H^H).
  func diffuseCovariance(bin k: Int) -> EarCovariance {
    var (left, right, re, im) = (0.0, 0.0, 0.0, 0.0)
    let lanes = lanes
    withRow(bin: k, ear: 0) { row in
      weights.withUnsafeBufferPointer { weights in
        for d in weights.indices {
          let (lr, li) = (Double(row[d]), Double(row[lanes + d]))
          let (rr, ri) = (Double(row[2 * lanes + d]), Double(row[3 * lanes + d]))
          left += weights[d] * (lr * lr + li * li)
          right += weights[d] * (rr * rr + ri * ri)
          re += weights[d] * (lr * rr + li * ri)
          im += weights[d] * (li * rr - lr * ri)
        }
      }
    }
    return EarCovariance(left: left, right: right, cross: Complex(re, im))
  }
}

/// Writes one ear's spectra for all directions, arranged as in `DirectionalResponses.values`.
private func transformResponses(
  _ responses: [Float], _ taps: Int, ear: Int, count: Int, lanes: Int, size: Int,
  into values: UnsafeMutablePointer<Float>
) {
  let batch = 16
  let fft = RealFFT(size: size, batch: batch)
  let time = AlignedFloats(count: size * batch)
  let re = AlignedFloats(count: fft.bins * batch)
  let im = AlignedFloats(count: fft.bins * batch)
  responses.withUnsafeBufferPointer { responses in
    for first in stride(from: 0, to: count, by: batch) {
      time.clear()
      let filled = min(batch, count - first)
      for lane in 0..<filled {
        let source = responses.baseAddress! + (2 * (first + lane) + ear) * taps
        for n in 0..<min(taps, size) { time.pointer[n * batch + lane] = source[n] }
      }
      fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
      for k in 0..<fft.bins {
        let target = values + (k * 4 + ear * 2) * lanes + first
        for lane in 0..<filled {
          target[lane] = re.pointer[k * batch + lane]
          target[lanes + lane] = im.pointer[k * batch + lane]
        }
      }
    }
  }
}
