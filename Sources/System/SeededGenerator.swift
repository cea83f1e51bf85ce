// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A SplitMix64 generator, which returns the same numbers for a seed in every run [G. Steele, D.
/// Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014].
@frozen
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline var state: UInt64
  @inlinable static var increment: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  @inlinable
  public init(_ seed: UInt64) { state = seed }

  @inlinable
  public mutating func next() -> UInt64 {
    state &+= Self.increment
    return Self.mixed(state)
  }

  /// Returns a number from the uniform distribution over 0..<1.
  @inlinable
  public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a number from the normal distribution with mean 0 and variance 1 [Box and Muller,
  /// 1958].
  public mutating func gaussian() -> Double {
    let radius = (-2 * log(1 - uniform())).squareRoot()
    return radius * cos(2 * .pi * uniform())
  }

  /// Returns one number from the sequence for seed 0. `position` counts from 1.
  @inlinable
  public static func value(at position: UInt64) -> UInt64 { mixed(position &* increment) }

  @inlinable
  static func mixed(_ number: UInt64) -> UInt64 {
    var z = number
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
