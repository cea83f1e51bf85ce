// SPDX-License-Identifier: Apache-2.0

/// Separate, contiguous buffers of real and imaginary parts.
struct SplitBuffer {
  let re: UnsafeMutablePointer<Float>
  let im: UnsafeMutablePointer<Float>

  @_noLocks
  init(re: UnsafeMutablePointer<Float>, im: UnsafeMutablePointer<Float>) {
    self.re = re
    self.im = im
  }
}

/// The input of a transform stage: complex values, in rows that begin `rowStride` floats apart.
struct StageSource {
  let re: UnsafePointer<Float>
  let im: UnsafePointer<Float>
  let rowStride: Int

  @_noLocks
  init(re: UnsafePointer<Float>, im: UnsafePointer<Float>, rowStride: Int) {
    self.re = re
    self.im = im
    self.rowStride = rowStride
  }
}

/// Computes one radix-4 stage of the Stockham transform for n rows.
///
/// - Parameters:
///   - n: the length of the transforms that this stage splits; a multiple of 4.
///   - width: the number of values in a row.
///   - twiddles: (n / 4) x 3 complex roots of unity.
@_noLocks
func radix4Stage(
  _ source: StageSource, _ target: SplitBuffer, n: Int, width: Int,
  _ twiddles: UnsafePointer<Float>
) {
  let quarter = n / 4
  for p in 0..<quarter {
    let w = twiddles + 6 * p
    let row = source.rowStride * p
    let step = source.rowStride * quarter
    let out = 4 * width * p
    if width & 3 == 0 && source.rowStride & 3 == 0 {
      radix4Vectors(
        source.re + row, source.im + row, step, target.re + out, target.im + out, width, w)
    } else {
      radix4Scalars(
        source.re + row, source.im + row, step, target.re + out, target.im + out, width, w)
    }
  }
}

@_noLocks
@inline(__always)
private func radix4Vectors(
  _ sourceRe: UnsafePointer<Float>, _ sourceIm: UnsafePointer<Float>, _ step: Int,
  _ targetRe: UnsafeMutablePointer<Float>, _ targetIm: UnsafeMutablePointer<Float>, _ width: Int,
  _ w: UnsafePointer<Float>
) {
  let xr = UnsafeRawPointer(sourceRe).assumingMemoryBound(to: Vector4.self)
  let xi = UnsafeRawPointer(sourceIm).assumingMemoryBound(to: Vector4.self)
  let (yr, yi) = (targetRe.vectors4, targetIm.vectors4)
  let (s, t) = (step / 4, width / 4)
  let (w1r, w1i, w2r, w2i, w3r, w3i) = (w[0], w[1], w[2], w[3], w[4], w[5])
  for q in 0..<t {
    let (ar, ai) = (xr[q], xi[q])
    let (br, bi) = (xr[q + s], xi[q + s])
    let (cr, ci) = (xr[q + 2 * s], xi[q + 2 * s])
    let (dr, di) = (xr[q + 3 * s], xi[q + 3 * s])
    let (acr, aci) = (ar + cr, ai + ci)
    let (amr, ami) = (ar - cr, ai - ci)
    let (bdr, bdi) = (br + dr, bi + di)
    let (bmr, bmi) = (br - dr, bi - di)
    yr[q] = acr + bdr
    yi[q] = aci + bdi
    let (e1r, e1i) = (amr + bmi, ami - bmr)
    yr[q + t] = e1r * w1r - e1i * w1i
    yi[q + t] = e1r * w1i + e1i * w1r
    let (e2r, e2i) = (acr - bdr, aci - bdi)
    yr[q + 2 * t] = e2r * w2r - e2i * w2i
    yi[q + 2 * t] = e2r * w2i + e2i * w2r
    let (e3r, e3i) = (amr - bmi, ami + bmr)
    yr[q + 3 * t] = e3r * w3r - e3i * w3i
    yi[q + 3 * t] = e3r * w3i + e3i * w3r
  }
}

@_noLocks
@inline(__always)
private func radix4Scalars(
  _ xr: UnsafePointer<Float>, _ xi: UnsafePointer<Float>, _ s: Int,
  _ yr: UnsafeMutablePointer<Float>, _ yi: UnsafeMutablePointer<Float>, _ t: Int,
  _ w: UnsafePointer<Float>
) {
  let (w1r, w1i, w2r, w2i, w3r, w3i) = (w[0], w[1], w[2], w[3], w[4], w[5])
  for q in 0..<t {
    let (ar, ai) = (xr[q], xi[q])
    let (br, bi) = (xr[q + s], xi[q + s])
    let (cr, ci) = (xr[q + 2 * s], xi[q + 2 * s])
    let (dr, di) = (xr[q + 3 * s], xi[q + 3 * s])
    let (acr, aci) = (ar + cr, ai + ci)
    let (amr, ami) = (ar - cr, ai - ci)
    let (bdr, bdi) = (br + dr, bi + di)
    let (bmr, bmi) = (br - dr, bi - di)
    yr[q] = acr + bdr
    yi[q] = aci + bdi
    let (e1r, e1i) = (amr + bmi, ami - bmr)
    yr[q + t] = e1r * w1r - e1i * w1i
    yi[q + t] = e1r * w1i + e1i * w1r
    let (e2r, e2i) = (acr - bdr, aci - bdi)
    yr[q + 2 * t] = e2r * w2r - e2i * w2i
    yi[q + 2 * t] = e2r * w2i + e2i * w2r
    let (e3r, e3i) = (amr - bmi, ami + bmr)
    yr[q + 3 * t] = e3r * w3r - e3i * w3i
    yi[q + 3 * t] = e3r * w3i + e3i * w3r
  }
}

/// Computes the last stage of a transform whose length is an odd power of two.
@_noLocks
func radix2Stage(_ source: StageSource, _ target: SplitBuffer, width: Int) {
  let step = source.rowStride
  guard width & 3 == 0 && step & 3 == 0 else {
    for q in 0..<width {
      let (ar, ai) = (source.re[q], source.im[q])
      let (br, bi) = (source.re[q + step], source.im[q + step])
      target.re[q] = ar + br
      target.im[q] = ai + bi
      target.re[q + width] = ar - br
      target.im[q + width] = ai - bi
    }
    return
  }
  let xr = UnsafeRawPointer(source.re).assumingMemoryBound(to: Vector4.self)
  let xi = UnsafeRawPointer(source.im).assumingMemoryBound(to: Vector4.self)
  let (yr, yi) = (target.re.vectors4, target.im.vectors4)
  let (s, t) = (step / 4, width / 4)
  for q in 0..<t {
    let (ar, ai) = (xr[q], xi[q])
    let (br, bi) = (xr[q + s], xi[q + s])
    yr[q] = ar + br
    yi[q] = ai + bi
    yr[q + t] = ar - br
    yi[q + t] = ai - bi
  }
}
