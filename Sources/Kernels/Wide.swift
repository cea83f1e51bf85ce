// SPDX-License-Identifier: Apache-2.0

// This folder is compiled three times. On x86-64, the instruction sets are the baseline, x86-64-v3
// (AVX2) and x86-64-v4 (AVX-512). On other processors, all three are the baseline.
//
// The convolution kernels work on quads: four interleaved signals. A row has one sample or bin of
// each signal. A chunk of a spectrum is four rows of real parts, then four of imaginary parts,
// whatever the vector width.

#if AVX512
  package typealias Wide = SIMD16<Float>
#elseif AVX2
  package typealias Wide = SIMD8<Float>
#else
  package typealias Wide = SIMD4<Float>
#endif

typealias Row = SIMD4<Float>

/// The number of floats in a vector.
@inline(__always)
var width: Int {
  @_noLocks get { MemoryLayout<Wide>.size / 4 }
}

/// Returns a b + c, with a single rounding if FUSED is set.
@_noLocks
@inline(__always)
package func fused(_ a: Wide, _ b: Wide, _ c: Wide) -> Wide {
  #if FUSED
    return c.addingProduct(a, b)
  #else
    return a * b + c
  #endif
}

/// Returns the real part of a complex product.
@_noLocks
@inline(__always)
func productRe(_ ar: Wide, _ ai: Wide, _ br: Wide, _ bi: Wide) -> Wide {
  fused(ar, br, -(ai * bi))
}

/// Returns the imaginary part of a complex product.
@_noLocks
@inline(__always)
func productIm(_ ar: Wide, _ ai: Wide, _ br: Wide, _ bi: Wide) -> Wide {
  fused(ar, bi, ai * br)
}

/// Loads a vector from an aligned address.
@_noLocks
@inline(__always)
func load(_ p: UnsafePointer<Float>) -> Wide {
  UnsafeRawPointer(p).assumingMemoryBound(to: Wide.self).pointee
}

@_noLocks
@inline(__always)
func load(_ p: UnsafeMutablePointer<Float>) -> Wide { load(UnsafePointer(p)) }

@_noLocks
@inline(__always)
func store(_ v: Wide, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).assumingMemoryBound(to: Wide.self).pointee = v
}

@_noLocks
@inline(__always)
func loadRow(_ p: UnsafePointer<Float>) -> Row {
  UnsafeRawPointer(p).assumingMemoryBound(to: Row.self).pointee
}

@_noLocks
@inline(__always)
func loadRow(_ p: UnsafeMutablePointer<Float>) -> Row { loadRow(UnsafePointer(p)) }

@_noLocks
@inline(__always)
func storeRow(_ v: Row, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).assumingMemoryBound(to: Row.self).pointee = v
}

/// Reduces two vectors of rows to one. In each row of the result, lane 0 is the sum of lanes 0 and
/// 2 of `a`, and lane 1 is the sum of lanes 1 and 3 of `a`. Lanes 2 and 3 are the same sums of `b`.
@_noLocks
@inline(__always)
func fold(_ a: Wide, _ b: Wide) -> Wide {
  #if AVX512
    let x = unsafeBitCast(a, to: SIMD8<Double>.self)
    let y = unsafeBitCast(b, to: SIMD8<Double>.self)
    let low = SIMD8<Double>(x[0], y[0], x[2], y[2], x[4], y[4], x[6], y[6])
    let high = SIMD8<Double>(x[1], y[1], x[3], y[3], x[5], y[5], x[7], y[7])
    return unsafeBitCast(low, to: Wide.self) + unsafeBitCast(high, to: Wide.self)
  #elseif AVX2
    let x = unsafeBitCast(a, to: SIMD4<Double>.self)
    let y = unsafeBitCast(b, to: SIMD4<Double>.self)
    let (low, high) = (SIMD4<Double>(x[0], y[0], x[2], y[2]), SIMD4<Double>(x[1], y[1], x[3], y[3]))
    return unsafeBitCast(low, to: Wide.self) + unsafeBitCast(high, to: Wide.self)
  #else
    return Wide(lowHalf: a.lowHalf + a.highHalf, highHalf: b.lowHalf + b.highHalf)
  #endif
}
