// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Measures the peak of a band-limited waveform between its samples, for tests.
///
/// It uses 16-fold ideal interpolation by the discrete Fourier transform and shares no code with
/// the limiter's filter.
public enum TruePeakMeter {
  /// Returns the linear true peak of samples with silence on both sides; full scale is 1.
  public static func truePeak(_ samples: [Float]) -> Double {
    let silence = 1_024
    var size = 4_096
    while size < samples.count + 2 * silence { size *= 2 }
    let spectrum = ComplexSignal(size)
    for i in samples.indices { spectrum.re[silence + i] = Double(samples[i]) }
    spectrum.transform(sign: -1)
    var peak = samples.reduce(0) { max($0, Double(abs($1))) }
    // One complex signal holds two shifted real signals.
    for step in stride(from: 1, to: 16, by: 2) {
      peak = max(peak, shiftedPeak(spectrum, Double(step) / 16, Double(step + 1) / 16))
    }
    return peak
  }

  /// Returns the true peak in dBTP; minus infinity for silence.
  public static func decibels(_ samples: [Float]) -> Double {
    20 * log10(truePeak(samples))
  }

  private static func shiftedPeak(_ spectrum: ComplexSignal, _ a: Double, _ b: Double) -> Double {
    let size = spectrum.size
    let out = ComplexSignal(size)
    for k in 0..<size {
      let frequency = 2 * k <= size ? k : k - size
      let turn = 2 * Double.pi * Double(frequency) / Double(size)
      let isNyquist = 2 * k == size
      let (ca, sa) = (cos(turn * a), isNyquist ? 0 : sin(turn * a))
      let (cb, sb) = (cos(turn * b), isNyquist ? 0 : sin(turn * b))
      // The factor is e^ja + j e^jb.
      let (re, im) = (ca - sb, sa + cb)
      out.re[k] = spectrum.re[k] * re - spectrum.im[k] * im
      out.im[k] = spectrum.re[k] * im + spectrum.im[k] * re
    }
    out.transform(sign: 1)
    var peak = 0.0
    for i in 0..<size { peak = max(peak, max(abs(out.re[i]), abs(out.im[i]))) }
    return peak / Double(size)
  }
}
