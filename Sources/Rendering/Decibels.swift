// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// The linear gain of a level in dB.
public func linearGain(decibels: Double) -> Float {
  Float(realtime_exp(decibels * 0.11512925464970229))
}

/// The level in dB of a linear amplitude; at least -200.
public func decibels(_ amplitude: Float) -> Double {
  8.685889638065036 * realtime_log(max(1e-10, Double(amplitude)))
}
