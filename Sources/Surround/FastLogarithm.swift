// SPDX-License-Identifier: Apache-2.0

/// 1.5 x 2^23. If this is added to a small number, the lowest bits of the sum are the integer
/// nearest to that number.
private let whole: Float = 12_582_912
private let wholeBits: Int32 = 0x4B40_0000

/// Returns the binary logarithms of eight positive normal numbers, with an error below 1e-5.
///
/// Let m be the mantissa, r = sqrt 2 and t = (m - r) / (m + r). Then ln m = ln r + 2 atanh(t).
/// Three terms of the series of atanh are used (Abramowitz and Stegun, 4.1.27).
@inline(__always)
func fastLog2(_ x: SIMD8<Float>) -> SIMD8<Float> {
  let bits = unsafeBitCast(x, to: SIMD8<Int32>.self)
  let exponent = unsafeBitCast((bits &>> 23) &+ wholeBits, to: SIMD8<Float>.self) - whole
  let mantissa = unsafeBitCast((bits & 0x7F_FFFF) | 0x3F80_0000, to: SIMD8<Float>.self)
  let root: Float = 1.414_213_6
  let t = (mantissa - root) / (mantissa + root)
  let square = t * t
  let series = t * (1 + square * (1.0 / 3 + square * 0.2))
  return exponent - 126.5 + series * 2.885_390_1
}

/// Returns eight powers of 2 with a relative error below 6e-5. Exponents are clamped to a magnitude
/// of 120.
@inline(__always)
func fastExp2(_ x: SIMD8<Float>) -> SIMD8<Float> {
  let limited = least(greatest(x, SIMD8(repeating: -120)), SIMD8(repeating: 120))
  let shifted = limited + whole
  let part = (limited - (shifted - whole)) * 0.693_147_2
  // The series of e^part, |part| < 0.35.
  let square = part * part
  let low = 1 + part + square * 0.5
  let high = square * part * (1.0 / 6 + part * (1.0 / 24))
  let exponent = unsafeBitCast(shifted, to: SIMD8<Int32>.self) &- wholeBits
  return (low + high) * unsafeBitCast((exponent &+ 127) &<< 23, to: SIMD8<Float>.self)
}
