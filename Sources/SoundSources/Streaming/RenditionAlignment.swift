// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering
private import SignalProcessing

/// The shift in time between two versions of a sound, and how well they agree.
///
/// The shift is found by generalised cross-correlation with a partly flattened spectrum (C. Knapp
/// and G. Carter, "The generalized correlation method for estimation of time delay", IEEE
/// Trans. ASSP 24(4), 1976).
struct RenditionAlignment: Equatable {
  /// The number of frames by which to delay the other version so that it matches the first;
  /// negative to advance it.
  var shift: Int
  /// The normalised correlation of the two versions at that shift, `leastAgreement` to 1.
  var agreement: Double

  /// The cross-spectrum is divided by this power of its magnitude. An exponent of 0 would not
  /// change the spectrum; 1 would flatten it completely.
  private static let flattening: Float = 0.6
  /// The lowest agreement at which two sounds count as versions of the same sound.
  static let leastAgreement = 0.5

  /// Finds the shift with the highest correlation. Returns nil if the versions do not agree, or if
  /// one of them is too short (at most 4 x `furthest` frames).
  ///
  /// - Parameters:
  ///   - other: the other version, mono. It starts at the same timestamp as `first`.
  ///   - first: the first version, mono.
  ///   - furthest: the largest shift in either direction, in frames.
  init?(of other: [Float], to first: [Float], within furthest: Int) {
    let count = min(first.count, other.count)
    guard count > 4 * furthest else { return nil }
    var size = 4
    while size < count + furthest { size *= 2 }
    let transform = RealFFT(size: size)
    let a = Self.spectrum(first.prefix(count), transform)
    let b = Self.spectrum(other.prefix(count), transform)
    let (real, imaginary) = Self.crossSpectrum(a, b)
    var correlation = [Float](repeating: 0, count: size)
    real.withUnsafeBufferPointer { real in
      imaginary.withUnsafeBufferPointer { imaginary in
        correlation.withUnsafeMutableBufferPointer { time in
          transform.inverse(
            real: real.baseAddress!, imaginary: imaginary.baseAddress!, time: time.baseAddress!)
        }
      }
    }
    // The shift is positive if the first version is later.
    let best = (-furthest...furthest).max { left, right in
      correlation[(left + size) % size] < correlation[(right + size) % size]
    }
    guard let best else { return nil }
    shift = best
    agreement = Self.agreement(first, other, shift: best, count)
    guard agreement >= Self.leastAgreement else { return nil }
  }

  private typealias Spectrum = (real: [Float], imaginary: [Float])

  private static func spectrum(
    _ sound: ArraySlice<Float>, _ transform: borrowing RealFFT
  ) -> Spectrum {
    var time = [Float](repeating: 0, count: transform.size)
    for (i, value) in sound.enumerated() { time[i] = value }
    var real = [Float](repeating: 0, count: transform.bins)
    var imaginary = real
    time.withUnsafeBufferPointer { time in
      real.withUnsafeMutableBufferPointer { real in
        imaginary.withUnsafeMutableBufferPointer { imaginary in
          transform.forward(
            time.baseAddress!, real: real.baseAddress!, imaginary: imaginary.baseAddress!)
        }
      }
    }
    return (real, imaginary)
  }

  private static func crossSpectrum(_ a: Spectrum, _ b: Spectrum) -> Spectrum {
    var result = a
    for k in a.real.indices {
      let x = a.real[k] * b.real[k] + a.imaginary[k] * b.imaginary[k]
      let y = a.imaginary[k] * b.real[k] - a.real[k] * b.imaginary[k]
      let magnitude = (x * x + y * y).squareRoot()
      let weight = magnitude > 1e-20 ? powf(magnitude, -flattening) : 0
      (result.real[k], result.imaginary[k]) = (x * weight, y * weight)
    }
    return result
  }

  private static func agreement(
    _ first: [Float], _ other: [Float], shift: Int, _ count: Int
  ) -> Double {
    var (product, one, two) = (0.0, 1e-12, 1e-12)
    for i in max(0, shift)..<min(count, count + shift) {
      let (x, y) = (Double(first[i]), Double(other[i - shift]))
      product += x * y
      one += x * x
      two += y * y
    }
    return product / (one * two).squareRoot()
  }
}
