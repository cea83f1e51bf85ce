// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// The beams and the spectral subtraction of up to three active sources.
///
/// For source k, the covariance R of the noise is modelled as the sum of a diffuse field of power P
/// and the other sources j, with the powers q_j and the steering vectors g_j:
///
///     R = P Gamma + sum q_j g_j g_j^T with Gamma = diag(1, 1/3, 1/3, 1/3)
///
/// 1. The powers q_j are measured with beams that have nulls at all other sources and otherwise the
///    least noise in a diffuse field (LCMV). The noise power of each beam is subtracted. P is the
///    mean power of the part of the field that is orthogonal to all sources after whitening by
///    Gamma.
/// 2. The beam of least noise for source k is w = R^-1 g_k / (g_k^T R^-1 g_k). Its noise power is
///    lambda = 1 / (g_k^T R^-1 g_k). R is inverted with the Woodbury identity. In a reverberant
///    field, the beam is mixed with W, and lambda is the noise power of the mixture. The noise of W
///    is taken to be the diffuse field alone.
/// 3. Spectral subtraction multiplies the output b of the beam by
///    max(1 - c lambda / |b|^2, `leastGain`), where c is `factor`.
struct SourceBeams: ~Copyable {
  private(set) var count = 0
  /// The slots and steering vectors of the active sources: the first `count` elements.
  private(set) var slots = InlineArray<3, Int>(repeating: 0)
  private(set) var steering = InlineArray<3, SIMD4<Float>>(repeating: .zero)
  /// The power of each active source after the subtraction, in the speech band.
  private(set) var power = InlineArray<3, Float>(repeating: 0)
  /// The noise power of each beam, in the speech band.
  private(set) var noise = InlineArray<3, Float>(repeating: 0)
  /// For each active source and bin: the beam before (`beamRe`, `beamIm`) and after (`voiceRe`,
  /// `voiceIm`) the subtraction, the gain of the subtraction, and the power of the LCMV beam
  /// (`nulled`).
  let beamRe, beamIm, voiceRe, voiceIm, gain, nulled: AlignedFloats
  let stride: Int

  private let bins: Int
  private let band: Range<Int>
  private let diffuse: AlignedFloats
  /// For each slot and bin, the smoothed power of the LCMV beam.
  private let powers: AlignedFloats
  private var identities = InlineArray<3, Int>(repeating: 0)
  private var matrix = SymmetricMatrix3()
  private var inverse = SymmetricMatrix3()
  private let newestNoise: Float
  private let newestSource: Float
  private let subtraction: Float
  private let leastGain: Float
  private let reverberantBeam, reverberantSubtraction: Float
  /// The weight of the beam of least noise. W is added with the weight 1 - `narrow`.
  private var narrow: Float = 1
  /// The factor of the noise power in the spectral subtraction.
  private var factor: Float = 1

  private static let gamma = SIMD4<Float>(1, 3, 3, 3)

  init(bins: Int, band: Range<Int>, hop: Double, settings: SeparationSettings) {
    self.bins = bins
    self.band = band
    stride = (bins + 15) / 8 * 8
    beamRe = AlignedFloats(count: 3 * stride)
    beamIm = AlignedFloats(count: 3 * stride)
    voiceRe = AlignedFloats(count: 3 * stride)
    voiceIm = AlignedFloats(count: 3 * stride)
    gain = AlignedFloats(count: 3 * stride)
    nulled = AlignedFloats(count: 3 * stride)
    diffuse = AlignedFloats(count: stride)
    powers = AlignedFloats(count: 3 * stride)
    newestNoise = newestWeight(hop, settings.noiseTime)
    newestSource = newestWeight(hop, settings.sourceTime)
    subtraction = settings.subtraction
    leastGain = settings.leastGain
    reverberantBeam = settings.reverberantBeam
    reverberantSubtraction = settings.reverberantSubtraction
  }

  mutating func reset() {
    diffuse.clear()
    powers.clear()
    count = 0
    for k in 0..<3 { identities[k] = 0 }
  }

  /// Computes the beams of one analysis frame.
  ///
  /// - Parameters:
  ///   - real: the real parts: 4 planes of `stride` bins, in the order W, Y, Z, X.
  ///   - imaginary: the imaginary parts, in the same arrangement.
  ///   - sources: all sources; only the active ones get a beam.
  ///   - reverberance: the lasting reverberance, 0 to 1.
  mutating func process(
    real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, sources: SourceTracker.Sources,
    reverberance: Float
  ) {
    narrow = 1 - (1 - reverberantBeam) * reverberance
    factor = subtraction + (reverberantSubtraction - subtraction) * reverberance
    choose(sources)
    estimate(real, imaginary)
    for k in 0..<count { form(k, real, imaginary) }
  }

  private mutating func choose(_ sources: SourceTracker.Sources) {
    count = 0
    for slot in 0..<3 {
      let source = sources[slot]
      guard source.isActive else {
        identities[slot] = 0
        continue
      }
      if identities[slot] != source.identity {
        identities[slot] = source.identity
        for k in 0..<stride { powers.pointer[slot * stride + k] = 0 }
      }
      let u = source.direction
      slots[count] = slot
      steering[count] = SIMD4(1, u.y, u.z, u.x)
      count += 1
    }
    matrix = SymmetricMatrix3()
    for i in 0..<count {
      for j in 0...i {
        matrix[i, j] = (steering[i] * steering[j] * Self.gamma).sum() * (i == j ? 1.000_001 : 1)
      }
    }
    inverse = matrix.inverse
  }

  /// Updates, in each bin, P and the powers of the LCMV beams, from which `form` computes q_j.
  private func estimate(_ real: UnsafePointer<Float>, _ imaginary: UnsafePointer<Float>) {
    let rest = 1 / Float(4 - count)
    var weights = InlineArray<3, SIMD4<Float>>(repeating: .zero)
    for i in 0..<count {
      for j in 0..<count { weights[i] += steering[j] * inverse[i, j] }
    }
    for k in Swift.stride(from: 0, to: bins, by: 8) {
      let (w, y, z, x) = planes(real, k)
      let (wi, yi, zi, xi) = planes(imaginary, k)
      var orthogonal =
        w * w + wi * wi + (y * y + yi * yi + z * z + zi * zi + x * x + xi * xi) * 3
      for i in 0..<count {
        let (a, g) = (weights[i], steering[i])
        let re = w * a.x + (y * a.y + z * a.z + x * a.w) * 3
        let im = wi * a.x + (yi * a.y + zi * a.z + xi * a.w) * 3
        let matchedRe = w + (y * g.y + z * g.z + x * g.w) * 3
        let matchedIm = wi + (yi * g.y + zi * g.z + xi * g.w) * 3
        orthogonal -= re * matchedRe + im * matchedIm
        let power = re * re + im * im
        store(power, nulled.pointer + i * stride + k)
        let state = powers.pointer + slots[i] * stride + k
        let old = load(state)
        store(old + (power - old) * newestSource, state)
      }
      let old = load(diffuse.pointer + k)
      store(
        old + (greatest(orthogonal * rest, .zero) - old) * newestNoise, diffuse.pointer + k)
    }
  }

  @inline(__always)
  private func planes(_ p: UnsafePointer<Float>, _ k: Int) -> (Lanes, Lanes, Lanes, Lanes) {
    (load(p + k), load(p + stride + k), load(p + 2 * stride + k), load(p + 3 * stride + k))
  }

  /// Forms the beam of the active source with the index `s`, and applies the spectral subtraction.
  private mutating func form(
    _ s: Int, _ real: UnsafePointer<Float>, _ imaginary: UnsafePointer<Float>
  ) {
    let (j0, j1) = ((s + 1) % 3, (s + 2) % 3)
    // An absent source counts as orthogonal to the others.
    let (has0, has1) = (j0 < count, j1 < count)
    let (g, g0, g1) = (steering[s], has0 ? steering[j0] : .zero, has1 ? steering[j1] : .zero)
    let own = matrix[s, s]
    let (m00, m11) = (has0 ? matrix[j0, j0] : 1, has1 ? matrix[j1, j1] : 1)
    let (a0, a1) = (has0 ? matrix[s, j0] : 0, has1 ? matrix[s, j1] : 0)
    let m01 = has0 && has1 ? matrix[j0, j1] : 0
    let (n0, n1) = (has0 ? inverse[j0, j0] : 0, has1 ? inverse[j1, j1] : 0)
    let (q0, q1) = (
      powers.pointer + (has0 ? slots[j0] : 0) * stride,
      powers.pointer + (has1 ? slots[j1] : 0) * stride
    )
    var (sum, sumNoise) = (Lanes.zero, Lanes.zero)
    let at = s * stride
    let wide = 1 - narrow
    for k in Swift.stride(from: 0, to: bins, by: 8) {
      let p = load(diffuse.pointer + k) + 1e-18
      var (c0, c1) = (Lanes.zero, Lanes.zero)
      if has0 || has1 {
        let d0 = p / greatest(load(q0 + k) - p * n0, p * 1e-6) + m00
        let d1 = p / greatest(load(q1 + k) - p * n1, p * 1e-6) + m11
        let scale = 1 / (d0 * d1 - m01 * m01)
        c0 = (d1 * a0 - m01 * a1) * scale
        c1 = (d0 * a1 - m01 * a0) * scale
      }
      let least = greatest(own - c0 * a0 - c1 * a1, Lanes(repeating: 0.05))
      let scale = 1 / least
      let ww = (g.x - c0 * g0.x - c1 * g1.x) * scale
      let wy = (g.y - c0 * g0.y - c1 * g1.y) * scale * 3
      let wz = (g.z - c0 * g0.z - c1 * g1.z) * scale * 3
      let wx = (g.w - c0 * g0.w - c1 * g1.w) * scale * 3
      let (w, y, z, x) = planes(real, k)
      let (wi, yi, zi, xi) = planes(imaginary, k)
      let re = (ww * w + wy * y + wz * z + wx * x) * narrow + w * wide
      let im = (ww * wi + wy * yi + wz * zi + wx * xi) * narrow + wi * wide
      let lambda = p * (scale * (narrow * narrow) + ww * (2 * narrow * wide) + wide * wide)
      let gain = greatest(
        1 - lambda * factor / (re * re + im * im + 1e-20), Lanes(repeating: leastGain))
      let (vr, vi) = (re * gain, im * gain)
      store(gain, self.gain.pointer + at + k)
      store(re, beamRe.pointer + at + k)
      store(im, beamIm.pointer + at + k)
      store(vr, voiceRe.pointer + at + k)
      store(vi, voiceIm.pointer + at + k)
      if band.contains(k) {
        sum += vr * vr + vi * vi
        sumNoise += lambda
      }
    }
    power[s] = sum.sum()
    noise[s] = sumNoise.sum()
  }
}
