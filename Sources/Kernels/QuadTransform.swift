// SPDX-License-Identifier: Apache-2.0

/// Constants for multiplication by e^(i pi/8), e^(i pi/4) and e^(i 3 pi/8).
private let cos8: Float = 0.923_879_532_511_286_8
private let sin8: Float = 0.382_683_432_365_089_8
private let root: Float = 0.707_106_781_186_547_6

/// Computes the spectra of four real signals of `size` samples, each followed by as many zeros.
///
/// The right-angle transform is the complex transform of x[n] e^(i pi n / (2 size)). It evaluates
/// the polynomial with the coefficients x[n] at the roots of y^size = i. The product of two spectra
/// represents a polynomial with up to 2 size coefficients. After the inverse transform, coefficient
/// n is the real part of sample n, and coefficient n + size is the imaginary part [Martin, Fast
/// Fourier transforms of real data by right-angle circular convolution; Crandall and Fagin, Math.
/// Comp. 62, 1994, 305]. The bins are left in decimation-in-frequency order.
///
/// - Parameters:
///   - rows: `size` rows of four samples.
///   - size: a power of two, at least 16.
///   - twiddles: the factors of `RightAngleTransform`.
///   - scratch: 2 x size rows.
///   - spectrum: receives size / 4 chunks, each of 16 real parts, then 16 imaginary parts.
///   - stride: floats from one chunk to the next.
@_noLocks
@inline(never)
public func transformQuad(
  _ rows: UnsafePointer<Float>, size: Int, twiddles: UnsafePointer<Float>,
  scratch: UnsafeMutablePointer<Float>, spectrum: UnsafeMutablePointer<Float>, stride: Int
) {
  let (re, im) = (scratch, scratch + 4 * size)
  enter(rows, size, twiddles, re, im)
  var table = twiddles + 8 * size
  var n = size / 4
  while n >= 16 {
    for first in Swift.stride(from: 0, to: size, by: n) {
      splitInFour(re + 4 * first, im + 4 * first, n, table)
    }
    table += 6 * n
    n /= 4
  }
  if n == 8 {
    for first in Swift.stride(from: 0, to: 4 * size, by: 32) {
      splitInTwo(re + first, im + first, table)
    }
  }
  var to = spectrum
  for first in Swift.stride(from: 0, to: 4 * size, by: 16) {
    finish(re + first, im + first, to)
    to += stride
  }
}

/// Multiplies the real rows by the weights e^(i pi n / (2 size)) and runs the first radix-4 stage.
@_noLocks
@inline(__always)
private func enter(
  _ rows: UnsafePointer<Float>, _ size: Int, _ twiddles: UnsafePointer<Float>,
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>
) {
  let quarter = size
  let (r, c, s) = (Wide(repeating: root), Wide(repeating: cos8), Wide(repeating: sin8))
  var at = 0
  while at < quarter {
    let w = twiddles + (at & ~15) * 8 + (at & 15)
    let (x0, x1) = (load(rows + at), load(rows + quarter + at))
    let (x2, x3) = (r * load(rows + 2 * quarter + at), r * load(rows + 3 * quarter + at))
    let (v0, v1) = (x1 + x3, x1 - x3)
    let (u0, u1) = (x0 + x2, x0 - x2)
    // (e0, e1) is e^(i pi/8) (v0 + i x3), and (f0, f1) is e^(-i 3 pi/8) (v1 - i x3).
    let (e0, e1) = (productRe(c, s, v0, x3), productIm(c, s, v0, x3))
    let (f0, f1) = (productRe(s, -c, v1, -x3), productIm(s, -c, v1, -x3))
    put(u0 + e0, x2 + e1, w, re, im, at)
    put(u1 + f0, f1 - x2, w + 32, re, im, quarter + at)
    put(u0 - e0, x2 - e1, w + 64, re, im, 2 * quarter + at)
    put(u1 - f0, -x2 - f1, w + 96, re, im, 3 * quarter + at)
    at += width
  }
}

/// Stores a complex vector times its twiddle factors.
@_noLocks
@inline(__always)
private func put(
  _ xr: Wide, _ xi: Wide, _ w: UnsafePointer<Float>, _ re: UnsafeMutablePointer<Float>,
  _ im: UnsafeMutablePointer<Float>, _ at: Int
) {
  let (wr, wi) = (load(w), load(w + 16))
  store(productRe(xr, xi, wr, wi), re + at)
  store(productIm(xr, xi, wr, wi), im + at)
}

@_noLocks
@inline(__always)
private func splitInFour(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>, _ n: Int,
  _ twiddles: UnsafePointer<Float>
) {
  var at = 0
  while at < n {
    let w = twiddles + (at & ~15) * 6 + (at & 15)
    let (ar, ai) = (load(re + at), load(im + at))
    let (br, bi) = (load(re + n + at), load(im + n + at))
    let (cr, ci) = (load(re + 2 * n + at), load(im + 2 * n + at))
    let (dr, di) = (load(re + 3 * n + at), load(im + 3 * n + at))
    let (acr, aci, amr, ami) = (ar + cr, ai + ci, ar - cr, ai - ci)
    let (bdr, bdi, bmr, bmi) = (br + dr, bi + di, br - dr, bi - di)
    store(acr + bdr, re + at)
    store(aci + bdi, im + at)
    put(amr + bmi, ami - bmr, w, re, im, n + at)
    put(acr - bdr, aci - bdi, w + 32, re, im, 2 * n + at)
    put(amr - bmi, ami + bmr, w + 64, re, im, 3 * n + at)
    at += width
  }
}

@_noLocks
@inline(__always)
private func splitInTwo(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>,
  _ twiddles: UnsafePointer<Float>
) {
  var at = 0
  while at < 16 {
    let (ar, ai) = (load(re + at), load(im + at))
    let (br, bi) = (load(re + 16 + at), load(im + 16 + at))
    store(ar + br, re + at)
    store(ai + bi, im + at)
    put(ar - br, ai - bi, twiddles + at, re, im, 16 + at)
    at += width
  }
}

/// Runs the last radix-4 stage for four rows and writes the chunk.
@_noLocks
@inline(__always)
private func finish(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>,
  _ to: UnsafeMutablePointer<Float>
) {
  let (ar, br, cr, dr) = (loadRow(re), loadRow(re + 4), loadRow(re + 8), loadRow(re + 12))
  let (ai, bi, ci, di) = (loadRow(im), loadRow(im + 4), loadRow(im + 8), loadRow(im + 12))
  let (acr, aci, amr, ami) = (ar + cr, ai + ci, ar - cr, ai - ci)
  let (bdr, bdi, bmr, bmi) = (br + dr, bi + di, br - dr, bi - di)
  storeRow(acr + bdr, to)
  storeRow(amr + bmi, to + 4)
  storeRow(acr - bdr, to + 8)
  storeRow(amr - bmi, to + 12)
  storeRow(aci + bdi, to + 16)
  storeRow(ami - bmr, to + 20)
  storeRow(aci - bdi, to + 24)
  storeRow(ami + bmr, to + 28)
}

/// Computes the inverse transform of a quad's spectra, multiplied by `size`.
///
/// - Parameters:
///   - spectrum: size / 4 chunks of 16 real and 16 imaginary parts.
///   - size: a power of two, at least 16.
///   - twiddles: the factors of `RightAngleTransform`.
///   - re: receives `size` rows: coefficients 0 to size - 1 of the products.
///   - im: receives `size` rows: coefficients size to 2 size - 1.
@_noLocks
@inline(never)
public func transformQuadBack(
  _ spectrum: UnsafePointer<Float>, size: Int, twiddles: UnsafePointer<Float>,
  re: UnsafeMutablePointer<Float>, im: UnsafeMutablePointer<Float>
) {
  for first in stride(from: 0, to: 4 * size, by: 16) {
    begin(spectrum + 2 * first, re + first, im + first)
  }
  // Skip the factors of the radix-4 stages, because the stages run in reverse order.
  var table = twiddles + 8 * size
  var length = size / 4
  while length >= 16 {
    table += 6 * length
    length /= 4
  }
  var n = 4
  if length == 8 {
    for first in stride(from: 0, to: 4 * size, by: 32) {
      joinTwo(re + first, im + first, table)
    }
    n = 8
  }
  while 4 * n < size {
    n *= 4
    table -= 6 * n
    for first in stride(from: 0, to: size, by: n) {
      joinFour(re + 4 * first, im + 4 * first, n, table)
    }
  }
  leave(size, twiddles, re, im)
}

@_noLocks
@inline(__always)
private func begin(
  _ from: UnsafePointer<Float>, _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>
) {
  let (ar, br, cr, dr) = (loadRow(from), loadRow(from + 4), loadRow(from + 8), loadRow(from + 12))
  let (ai, bi) = (loadRow(from + 16), loadRow(from + 20))
  let (ci, di) = (loadRow(from + 24), loadRow(from + 28))
  let (acr, aci, amr, ami) = (ar + cr, ai + ci, ar - cr, ai - ci)
  let (bdr, bdi, bmr, bmi) = (br + dr, bi + di, br - dr, bi - di)
  storeRow(acr + bdr, re)
  storeRow(amr - bmi, re + 4)
  storeRow(acr - bdr, re + 8)
  storeRow(amr + bmi, re + 12)
  storeRow(aci + bdi, im)
  storeRow(ami + bmr, im + 4)
  storeRow(aci - bdi, im + 8)
  storeRow(ami - bmr, im + 12)
}

@_noLocks
@inline(__always)
private func joinTwo(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>,
  _ twiddles: UnsafePointer<Float>
) {
  var at = 0
  while at < 16 {
    let (wr, wi) = (load(twiddles + at), -load(twiddles + 16 + at))
    let (ar, ai) = (load(re + at), load(im + at))
    let (xr, xi) = (load(re + 16 + at), load(im + 16 + at))
    let (br, bi) = (productRe(xr, xi, wr, wi), productIm(xr, xi, wr, wi))
    store(ar + br, re + at)
    store(ai + bi, im + at)
    store(ar - br, re + 16 + at)
    store(ai - bi, im + 16 + at)
    at += width
  }
}

/// Returns a complex vector times the conjugates of its twiddle factors.
@_noLocks
@inline(__always)
private func take(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>, _ at: Int,
  _ w: UnsafePointer<Float>
) -> (re: Wide, im: Wide) {
  let (xr, xi) = (load(re + at), load(im + at))
  let (wr, wi) = (load(w), -load(w + 16))
  return (productRe(xr, xi, wr, wi), productIm(xr, xi, wr, wi))
}

@_noLocks
@inline(__always)
private func joinFour(
  _ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>, _ n: Int,
  _ twiddles: UnsafePointer<Float>
) {
  var at = 0
  while at < n {
    let w = twiddles + (at & ~15) * 6 + (at & 15)
    let (ar, ai) = (load(re + at), load(im + at))
    let b = take(re, im, n + at, w)
    let c = take(re, im, 2 * n + at, w + 32)
    let d = take(re, im, 3 * n + at, w + 64)
    let (acr, aci, amr, ami) = (ar + c.re, ai + c.im, ar - c.re, ai - c.im)
    let (bdr, bdi, bmr, bmi) = (b.re + d.re, b.im + d.im, b.re - d.re, b.im - d.im)
    store(acr + bdr, re + at)
    store(aci + bdi, im + at)
    store(amr - bmi, re + n + at)
    store(ami + bmr, im + n + at)
    store(acr - bdr, re + 2 * n + at)
    store(aci - bdi, im + 2 * n + at)
    store(amr + bmi, re + 3 * n + at)
    store(ami - bmr, im + 3 * n + at)
    at += width
  }
}

/// Runs the last radix-4 stage and removes the weights that `enter` applied.
@_noLocks
@inline(__always)
private func leave(
  _ size: Int, _ twiddles: UnsafePointer<Float>, _ re: UnsafeMutablePointer<Float>,
  _ im: UnsafeMutablePointer<Float>
) {
  let quarter = size
  let (r, c, s) = (Wide(repeating: root), Wide(repeating: cos8), Wide(repeating: sin8))
  var at = 0
  while at < quarter {
    let w = twiddles + (at & ~15) * 8 + (at & 15)
    let a = take(re, im, at, w)
    let b = take(re, im, quarter + at, w + 32)
    let e = take(re, im, 2 * quarter + at, w + 64)
    let d = take(re, im, 3 * quarter + at, w + 96)
    let (acr, aci, amr, ami) = (a.re + e.re, a.im + e.im, a.re - e.re, a.im - e.im)
    let (bdr, bdi, bmr, bmi) = (b.re + d.re, b.im + d.im, b.re - d.re, b.im - d.im)
    store(acr + bdr, re + at)
    store(aci + bdi, im + at)
    let (y1r, y1i) = (amr - bmi, ami + bmr)
    store(productRe(y1r, y1i, c, -s), re + quarter + at)
    store(productIm(y1r, y1i, c, -s), im + quarter + at)
    let (y2r, y2i) = (acr - bdr, aci - bdi)
    store(r * (y2r + y2i), re + 2 * quarter + at)
    store(r * (y2i - y2r), im + 2 * quarter + at)
    let (y3r, y3i) = (amr + bmi, ami - bmr)
    store(productRe(y3r, y3i, s, -c), re + 3 * quarter + at)
    store(productIm(y3r, y3i, s, -c), im + 3 * quarter + at)
    at += width
  }
}
