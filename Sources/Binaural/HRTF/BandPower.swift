// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Computes the mean power of transfer functions in a frequency band.
struct BandPower {
  private let size: Int
  private let cosines: [Double]
  private let sines: [Double]
  /// The bins of the band. A bin's weight is proportional to the part of its width inside the band.
  /// The weights sum to 1.
  private let band: [(bin: Int, weight: Double)]

  /// - Parameters:
  ///   - taps: the maximum length of the responses, in samples.
  ///   - sampleRate: the sample rate, in Hz.
  ///   - band: the limits of the frequency band, in Hz.
  init(taps: Int, sampleRate: Double, band: ClosedRange<Double>) {
    var size = 512
    while size < 2 * taps { size *= 2 }
    let length = size
    self.size = size
    cosines = (0..<size / 2).map { cos(2 * .pi * Double($0) / Double(length)) }
    sines = (0..<size / 2).map { -sin(2 * .pi * Double($0) / Double(length)) }
    let width = sampleRate / Double(size)
    let overlaps = (0...size / 2).map { bin -> Double in
      let centre = Double(bin) * width
      let low = max(centre - width / 2, band.lowerBound)
      let high = min(centre + width / 2, band.upperBound, sampleRate / 2)
      return max(0, high - low)
    }
    let total = overlaps.reduce(0, +)
    self.band = overlaps.indices.filter { overlaps[$0] > 0 }.map { ($0, overlaps[$0] / total) }
  }

  /// Returns the sum of the mean powers |H|^2 of two responses in the band. The responses must have
  /// the same length, at most `taps` samples.
  func sum(_ first: UnsafeBufferPointer<Float>, _ second: UnsafeBufferPointer<Float>) -> Double {
    var re = [Double](repeating: 0, count: size)
    var im = [Double](repeating: 0, count: size)
    for index in first.indices {
      re[index] = Double(first[index])
      im[index] = Double(second[index])
    }
    return re.withUnsafeMutableBufferPointer { re in
      im.withUnsafeMutableBufferPointer { im in
        transform(re, im)
        // |A(k)|^2 + |B(k)|^2 = (|Z(k)|^2 + |Z(-k)|^2) / 2, where Z is the spectrum of z = a + i b.
        return band.reduce(0) { sum, entry in
          let (k, mirror) = (entry.bin, (size - entry.bin) % size)
          let power =
            re[k] * re[k] + im[k] * im[k] + re[mirror] * re[mirror] + im[mirror] * im[mirror]
          return sum + entry.weight * power / 2
        }
      }
    }
  }

  /// Computes the Fourier transform in place (Cooley and Tukey, radix 2, decimation in time).
  private func transform(
    _ re: UnsafeMutableBufferPointer<Double>, _ im: UnsafeMutableBufferPointer<Double>
  ) {
    reorder(re, im)
    var half = 1
    while half < size {
      let stride = size / (2 * half)
      var block = 0
      while block < size {
        for j in 0..<half {
          let (c, s) = (cosines[j * stride], sines[j * stride])
          let (a, b) = (block + j, block + j + half)
          let (tr, ti) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c)
          (re[b], im[b]) = (re[a] - tr, im[a] - ti)
          (re[a], im[a]) = (re[a] + tr, im[a] + ti)
        }
        block += 2 * half
      }
      half *= 2
    }
  }

  private func reorder(
    _ re: UnsafeMutableBufferPointer<Double>, _ im: UnsafeMutableBufferPointer<Double>
  ) {
    var reversed = 0
    for index in 1..<size {
      var bit = size >> 1
      while reversed & bit != 0 {
        reversed ^= bit
        bit >>= 1
      }
      reversed |= bit
      if index < reversed {
        re.swapAt(index, reversed)
        im.swapAt(index, reversed)
      }
    }
  }
}
