// SPDX-License-Identifier: Apache-2.0

private import CRealtime

func exponential(_ x: Double) -> Double { realtime_exp(x) }

func sine(_ x: Double) -> Float { Float(realtime_sin(x)) }

/// Eight values from any address.
@inline(__always)
func load(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
}

/// Eight values to any address.
@inline(__always)
func store(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).storeBytes(of: v, as: SIMD8<Float>.self)
}

extension SIMD8 where Scalar == Float {
  @inline(__always)
  static func magnitude(_ v: Self) -> Self { v.replacing(with: -v, where: v .< .zero) }
}
