// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing

/// The interaural cues to the direction of a source.
struct InterauralDifference {
  /// Delay of the left ear relative to the right one, from the maximum of the cross-correlation
  /// below 1.5 kHz [s].
  let time: Double
  /// Level of the left ear relative to the right one, in octaves from 125 Hz to 16 kHz [dB].
  let levels: [Double]

  static let frames = 32_768
  static let bands = (0...7).map { 125.0 * pow(2, Double($0)) }
  private static let sampleRate = 48_000.0

  /// - Parameter start: the first of `frames` frames of two ears.
  init(_ ears: [[Float]], from start: Int) {
    let spectra = ears.map { Self.spectrum(Array($0[start..<start + Self.frames])) }
    let binWidth = Self.sampleRate / Double(Self.frames)
    levels = Self.bands.map { center in
      let first = Int(center / 2.0.squareRoot() / binWidth)
      let last = min(Self.frames / 2, Int(center * 2.0.squareRoot() / binWidth))
      let powers = spectra.map { spectrum -> Double in
        (first...last).reduce(0.0) { sum, bin in
          let (real, imaginary) = (spectrum.real[bin], spectrum.imaginary[bin])
          return sum + real * real + imaginary * imaginary
        }
      }
      return 10 * log10(powers[0] / powers[1])
    }
    time = Self.delay(spectra[0], spectra[1], bins: Int(1500 / binWidth), binWidth)
  }

  private typealias Spectrum = (real: [Double], imaginary: [Double])

  private static func spectrum(_ samples: [Float]) -> Spectrum {
    let fft = RealFFT(size: frames)
    let windowed = samples.enumerated().map { index, sample in
      sample * Float(0.5 - 0.5 * cos(2 * Double.pi * Double(index) / Double(frames)))
    }
    var real = [Float](repeating: 0, count: fft.bins)
    var imaginary = real
    fft.forward(windowed, real: &real, imaginary: &imaginary)
    return (real.map(Double.init), imaginary.map(Double.init))
  }

  private static func delay(
    _ left: Spectrum, _ right: Spectrum, bins: Int, _ binWidth: Double
  ) -> Double {
    func correlation(_ seconds: Double) -> Double {
      (1...bins).reduce(0) { sum, k in
        let real = left.real[k] * right.real[k] + left.imaginary[k] * right.imaginary[k]
        let imaginary = left.imaginary[k] * right.real[k] - left.real[k] * right.imaginary[k]
        let phase = 2 * Double.pi * Double(k) * binWidth * seconds
        return sum + real * cos(phase) - imaginary * sin(phase)
      }
    }
    func best(_ center: Double, _ step: Double, _ count: Int) -> Double {
      (-count...count).map { center + Double($0) * step }
        .max { correlation($0) < correlation($1) } ?? center
    }
    return best(best(0, 20e-6, 50), 0.5e-6, 45)
  }
}
