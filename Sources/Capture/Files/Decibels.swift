// SPDX-License-Identifier: Apache-2.0

import Glibc

enum Decibels {
  /// Returns an amplitude in dB relative to 1; minus infinity for 0.
  static func of(_ amplitude: Float) -> Double { 20 * log10(Double(amplitude)) }
}
