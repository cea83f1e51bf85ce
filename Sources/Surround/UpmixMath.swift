// SPDX-License-Identifier: Apache-2.0

private import CRealtime

func exponential(_ x: Double) -> Double { realtime_exp(x) }

func sine(_ x: Double) -> Float { Float(realtime_sin(x)) }

/// Loads eight values from an address that need not be aligned.
@inline(__always)
func load(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
}

/// Stores eight values at an address that need not be aligned.
@inline(__always)
func store(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).storeBytes(of: v, as: SIMD8<Float>.self)
}

/// Returns the elements of `yes` where the mask is set, and those of `no` elsewhere. The
/// corresponding functions of the standard library process the elements one by one.
@inline(__always)
func select(
  _ mask: SIMDMask<SIMD8<Int32>>, _ yes: SIMD8<Float>, _ no: SIMD8<Float>
) -> SIMD8<Float> {
  let bits = unsafeBitCast(mask, to: SIMD8<Int32>.self)
  let (a, b) = (
    unsafeBitCast(yes, to: SIMD8<Int32>.self), unsafeBitCast(no, to: SIMD8<Int32>.self)
  )
  return unsafeBitCast((a & bits) | (b & ~bits), to: SIMD8<Float>.self)
}

@inline(__always)
func least(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> { select(a .< b, a, b) }

@inline(__always)
func greatest(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> { select(a .> b, a, b) }

@inline(__always)
func magnitude(_ v: SIMD8<Float>) -> SIMD8<Float> {
  unsafeBitCast(unsafeBitCast(v, to: SIMD8<Int32>.self) & 0x7FFF_FFFF, to: SIMD8<Float>.self)
}
