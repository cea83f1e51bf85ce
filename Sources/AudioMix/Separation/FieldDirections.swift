// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Adds the directions of one analysis frame to a histogram.
///
/// The active intensity I = Re(W* [X, Y, Z]) and the energy E = (|W|^2 + |X|^2 + |Y|^2 + |Z|^2) / 2
/// are smoothed per bin. |I| / E is 1 for a plane wave and small for diffuse sound (Pulkki,
/// "Spatial sound reproduction with directional audio coding", J. Audio Eng. Soc. 55, 503, 2007).
/// The weight of a bin is (|I| / E)^4 |W| r, where r is the ratio of the present power of W to the
/// long-term power, at most 4.
struct FieldDirections: ~Copyable {
  private let bins: Range<Int>
  /// Smoothed E and I: four values per bin.
  private let flow: AlignedFloats
  /// Two averages of the power of W per bin, with the time constants `present` and `longTerm` of
  /// `SeparationSettings`.
  private let levels: AlignedFloats
  private let newest: Float
  private let newestLong: Float

  init(bins: Range<Int>, hop: Double, settings: SeparationSettings) {
    self.bins = bins
    flow = AlignedFloats(count: 4 * bins.count)
    levels = AlignedFloats(count: 2 * bins.count)
    newest = newestWeight(hop, settings.present)
    newestLong = newestWeight(hop, settings.longTerm)
  }

  func reset() {
    flow.clear()
    levels.clear()
  }

  /// Lets the histogram decay and adds the directions of the next analysis frame.
  ///
  /// - Parameters:
  ///   - real: the real parts: 4 planes of `stride` bins, in the order W, Y, Z, X.
  ///   - imaginary: the imaginary parts, in the same arrangement.
  ///   - loss: the additional loss of the histogram; see `DirectionHistogram.fade`.
  func process(
    real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, stride: Int,
    into histogram: borrowing DirectionHistogram, loss: Float
  ) {
    histogram.fade(loss: loss)
    for (n, k) in bins.enumerated() {
      let re = SIMD4(real[k], real[k + stride], real[k + 2 * stride], real[k + 3 * stride])
      let im = SIMD4(
        imaginary[k], imaginary[k + stride], imaginary[k + 2 * stride], imaginary[k + 3 * stride])
      let powers = re * re + im * im
      var now = re * re.x + im * im.x
      now.x = 0.5 * powers.sum()
      let state = flow.pointer + 4 * n
      var mean = SIMD4(state[0], state[1], state[2], state[3])
      mean += (now - mean) * newest
      (state[0], state[1], state[2], state[3]) = (mean.x, mean.y, mean.z, mean.w)
      let level = levels.pointer + 2 * n
      level[0] += (powers.x - level[0]) * newest
      level[1] += (powers.x - level[1]) * newestLong
      let (energy, y, z, x) = (mean.x, mean.y, mean.z, mean.w)
      let length = realtime_sqrtf(x * x + y * y + z * z)
      guard length > 1e-18 else { continue }
      let ratio = length / energy
      let squared = ratio * ratio
      let rise = min(4, level[0] / (level[1] + 1e-20))
      histogram.add(
        x / length, y / length, z / length,
        weight: squared * squared * realtime_sqrtf(powers.x) * rise)
    }
  }
}
