// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Trigonometric functions of angles in half turns (units of pi).
enum HalfTurns {
  package static func sine(_ x: Double) -> Double { sin(Double.pi * x) }
  package static func cosine(_ x: Double) -> Double { cos(Double.pi * x) }
}

/// Returns the polar angle of the point (x, y), in radians.
func angle(_ y: Double, _ x: Double) -> Double { atan2(y, x) }

/// Returns the ratio of a power to the power `whole`, in dB.
func decibels(_ power: Double, relativeTo whole: Double) -> Double {
  10 * log10(max(power, 1e-30) / max(whole, 1e-30))
}
