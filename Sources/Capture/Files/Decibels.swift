// SPDX-License-Identifier: Apache-2.0

import Glibc

enum Decibels {
  /// Converts a linear amplitude to dB relative to 1. An amplitude of 0 becomes minus infinity.
  static func of(_ amplitude: Float) -> Double { 20 * log10(Double(amplitude)) }
}
