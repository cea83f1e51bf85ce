// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

typealias Lanes = SIMD8<Float>

@inline(__always)
func load(_ p: UnsafePointer<Float>) -> Lanes {
  UnsafeRawPointer(p).loadUnaligned(as: Lanes.self)
}

@inline(__always)
func store(_ v: Lanes, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).storeBytes(of: v, as: Lanes.self)
}

/// Returns the larger of each pair of elements. This function is faster than `pointwiseMax`.
@inline(__always)
func greatest(_ a: Lanes, _ b: Lanes) -> Lanes {
  let mask = unsafeBitCast(a .> b, to: SIMD8<Int32>.self)
  let (x, y) = (
    unsafeBitCast(a, to: SIMD8<Int32>.self), unsafeBitCast(b, to: SIMD8<Int32>.self)
  )
  return unsafeBitCast((x & mask) | (y & ~mask), to: Lanes.self)
}

/// Returns the binary logarithm of a positive normal number, with an error below 1e-4.
@inline(__always)
func fastLog2(_ x: Float) -> Float {
  let bits = x.bitPattern
  let exponent = Float(Int32(bits >> 23) - 127)
  let mantissa = Float(bitPattern: (bits & 0x7F_FFFF) | 0x3F80_0000)
  let root: Float = 1.414_213_6
  let t = (mantissa - root) / (mantissa + root)
  let square = t * t
  return exponent + 0.5 + t * (1 + square * (1.0 / 3 + square * 0.2)) * 2.885_390_1
}

/// Converts a power to dB. A power below 1e-18 counts as 1e-18.
@inline(__always)
func decibels(_ power: Float) -> Float { 3.010_3 * fastLog2(max(power, 1e-18)) }

/// Returns 0 up to `range.none` and 1 from `range.full` on, with linear interpolation between them.
@inline(__always)
func ramp(_ x: Float, _ range: (none: Float, full: Float)) -> Float {
  min(1, max(0, (x - range.none) / (range.full - range.none)))
}

/// Returns the weight of the newest value in an exponential mean. `hop` is the time between
/// consecutive values, and `time` is the time constant, both in seconds.
func newestWeight(_ hop: Double, _ time: Double) -> Float {
  Float(1 - realtime_exp(-hop / time))
}
