// SPDX-License-Identifier: Apache-2.0

/// Adds up the products of spectra and filters over quads and partitions, for two ears.
///
/// A quad is four interleaved signals. A chunk of four bins consists of items, one for each pair of
/// a quad and a partition. An item of the spectra has 16 real, then 16 imaginary parts. An item of
/// the filters has 16 real and 16 imaginary parts for the left ear, then those for the right ear.
///
/// - Parameters:
///   - spectra: chunks x items x 32.
///   - spectraStride: floats from one chunk of the spectra to the next.
///   - filters: chunks x items x 64.
///   - filterStride: floats from one chunk of the filters to the next.
///   - runs: the items to multiply, in runs of consecutive items. Three numbers per run: first item
///     of the spectra, first item of the filters, item count.
///   - runCount: number of runs.
///   - chunks: number of chunks.
///   - before: chunks x 32, initial values of the sums; nil for zero.
///   - sums: receives chunks x 32. The left ear is the sum of lanes 0 and 1, the right ear the sum
///     of lanes 2 and 3.
@_noLocks
@inline(never)
public func addProducts(
  spectra: UnsafePointer<Float>, spectraStride: Int, filters: UnsafePointer<Float>,
  filterStride: Int, runs: UnsafePointer<Int>, runCount: Int, chunks: Int,
  before: UnsafePointer<Float>?, sums: UnsafeMutablePointer<Float>
) {
  for chunk in 0..<chunks {
    var lane = 0
    while lane < 16 {
      let x = spectra + chunk * spectraStride + lane
      let h = filters + chunk * filterStride + lane
      var (lrr, lii, lri, lir) = (zero, zero, zero, zero)
      var (rrr, rii, rri, rir) = (zero, zero, zero, zero)
      for run in 0..<runCount {
        var (item, filter) = (x + 32 * runs[3 * run], h + 64 * runs[3 * run + 1])
        for _ in 0..<runs[3 * run + 2] {
          let (xr, xi) = (load(item), load(item + 16))
          let (lr, li) = (load(filter), load(filter + 16))
          let (rr, ri) = (load(filter + 32), load(filter + 48))
          lrr = fused(xr, lr, lrr)
          lii = fused(xi, li, lii)
          lri = fused(xr, li, lri)
          lir = fused(xi, lr, lir)
          rrr = fused(xr, rr, rrr)
          rii = fused(xi, ri, rii)
          rri = fused(xr, ri, rri)
          rir = fused(xi, rr, rir)
          item += 32
          filter += 64
        }
      }
      put(
        fold(lrr - lii, rrr - rii), fold(lri + lir, rri + rir), before, sums, 32 * chunk + lane)
      lane += width
    }
  }
}

/// Adds up products like `addProducts`, but for a left-right symmetric head, with one filter per
/// signal.
///
/// Even signals reach both ears equally; odd signals reach them with opposite signs. For parameters
/// that are not listed here, see `addProducts`.
///
/// - Parameters:
///   - filters: chunks x items x 32.
///   - runs: four numbers per run: first item of the spectra, first item of the filters, item
///     count, and number of even signals in each item. The even signals come first.
///   - masks: 5 x 16, a mask for each number of even signals, 0 to 4. A mask is 1 in the lanes of
///     even signals and 0 in the lanes of odd signals.
///   - sums: receives chunks x 32. The even part is the sum of lanes 0 and 1, the odd part the sum
///     of lanes 2 and 3.
@_noLocks
@inline(never)
public func addSymmetricProducts(
  spectra: UnsafePointer<Float>, spectraStride: Int, filters: UnsafePointer<Float>,
  filterStride: Int, runs: UnsafePointer<Int>, runCount: Int, masks: UnsafePointer<Float>,
  chunks: Int, before: UnsafePointer<Float>?, sums: UnsafeMutablePointer<Float>
) {
  for chunk in 0..<chunks {
    var lane = 0
    while lane < 16 {
      let x = spectra + chunk * spectraStride + lane
      let h = filters + chunk * filterStride + lane
      var (evenR, evenI, oddR, oddI) = (zero, zero, zero, zero)
      for run in 0..<runCount {
        let at = runs + 4 * run
        let (re, im) = addRun(x + 32 * at[0], h + 32 * at[1], at[2])
        let mask = load(masks + 16 * at[3] + lane)
        let (maskedR, maskedI) = (re * mask, im * mask)
        evenR += maskedR
        evenI += maskedI
        oddR += re - maskedR
        oddI += im - maskedI
      }
      put(fold(evenR, oddR), fold(evenI, oddI), before, sums, 32 * chunk + lane)
      lane += width
    }
  }
}

@_noLocks
@inline(__always)
private func addRun(
  _ spectra: UnsafePointer<Float>, _ filters: UnsafePointer<Float>, _ count: Int
) -> (re: Wide, im: Wide) {
  var (x, h) = (spectra, filters)
  var (rr, ii, ri, ir) = (zero, zero, zero, zero)
  for _ in 0..<count {
    let (xr, xi, hr, hi) = (load(x), load(x + 16), load(h), load(h + 16))
    rr = fused(xr, hr, rr)
    ii = fused(xi, hi, ii)
    ri = fused(xr, hi, ri)
    ir = fused(xi, hr, ir)
    x += 32
    h += 32
  }
  return (rr - ii, ri + ir)
}

@inline(__always)
private var zero: Wide {
  @_noLocks get { Wide(repeating: 0) }
}

@_noLocks
@inline(__always)
private func put(
  _ re: Wide, _ im: Wide, _ before: UnsafePointer<Float>?, _ sums: UnsafeMutablePointer<Float>,
  _ at: Int
) {
  guard let before else {
    store(re, sums + at)
    store(im, sums + at + 16)
    return
  }
  store(load(before + at) + re, sums + at)
  store(load(before + at + 16) + im, sums + at + 16)
}
