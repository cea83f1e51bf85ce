// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Returns the minimum-phase response that has a given magnitude (Oppenheim and Schafer,
/// Discrete-Time Signal Processing, 3rd edition, section 13.7).
///
/// - Parameter magnitude: bins 0 to size / 2, where size is a power of two, at least 4. Values
///   below 1e-12 count as 1e-12.
/// - Returns: the complex response at the same bins.
public func minimumPhaseResponse(magnitude: [Double]) -> [Complex] {
  let bins = magnitude.count
  let size = 2 * (bins - 1)
  let fft = RealFFT(size: size)
  let re = AlignedFloats(count: bins)
  let im = AlignedFloats(count: bins)
  let cepstrum = AlignedFloats(count: size)
  for k in 0..<bins { re.pointer[k] = Float(realtime_log(max(magnitude[k], 1e-12))) }
  fft.inverse(real: re.pointer, imaginary: im.pointer, time: cepstrum.pointer)
  for n in 1..<(size / 2) {
    cepstrum.pointer[n] *= 2
    cepstrum.pointer[size - n] = 0
  }
  fft.forward(cepstrum.pointer, real: re.pointer, imaginary: im.pointer)
  return (0..<bins).map { k in
    Complex(angle: Double(im.pointer[k])) * realtime_exp(Double(re.pointer[k]))
  }
}
