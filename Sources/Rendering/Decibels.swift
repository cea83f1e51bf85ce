// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// Returns the amplitude gain for a level in dB: 10 for 20 dB.
public func linearGain(decibels: Double) -> Float {
  Float(realtime_exp(decibels * 0.11512925464970229))
}

/// Returns the level of a linear amplitude, in dB. Amplitudes below 1e-10 give -200 dB.
public func decibels(_ amplitude: Float) -> Double {
  8.685889638065036 * realtime_log(max(1e-10, Double(amplitude)))
}
