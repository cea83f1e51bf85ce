// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
internal import SignalProcessing

/// Spherical-harmonic coefficients (N3D) of two ears at one bin: channels of complex numbers each.
struct EarCoefficients {
  var left: [Complex]
  var right: [Complex]

  /// Sum of squared magnitudes: the decoder's energy in the diffuse field.
  var energy: Double {
    left.reduce(0) { $0 + $1.squaredMagnitude } + right.reduce(0) { $0 + $1.squaredMagnitude }
  }

  func scaled(by gain: Double) -> EarCoefficients {
    EarCoefficients(left: left.map { $0 * gain }, right: right.map { $0 * gain })
  }
}

/// The weighted least-squares projection of directional responses onto spherical harmonics.
///
/// D = H W Y^T (Y W Y^T + e I)^-1 with harmonics in N3D; e is `regularisation` times the mean of
/// the diagonal.
final class HarmonicProjection {
  let channels: Int
  private let lanes: Int
  private let inverse: [Double]
  /// channels x lanes, rows of directions.
  private let harmonics: AlignedFloats
  private let weights: AlignedFloats
  private let targets: AlignedFloats

  init?(
    order: Int, directions: [SIMD3<Double>], weights: [Double], lanes: Int,
    regularisation: Double = 1e-5
  ) {
    let channels = SphericalHarmonics.channelCount(order: order)
    self.channels = channels
    self.lanes = lanes
    harmonics = AlignedFloats(count: channels * lanes)
    self.weights = AlignedFloats(count: lanes)
    targets = AlignedFloats(count: 4 * lanes)
    var gram = [Double](repeating: 0, count: channels * channels)
    for (d, v) in directions.enumerated() {
      let y = SphericalHarmonics.evaluateN3D(order: order, v)
      for i in 0..<channels {
        harmonics.pointer[i * lanes + d] = Float(y[i])
        for j in 0...i { gram[i * channels + j] += weights[d] * y[i] * y[j] }
      }
      self.weights.pointer[d] = Float(weights[d])
    }
    let trace = (0..<channels).reduce(0) { $0 + gram[$1 * channels + $1] }
    for i in 0..<channels {
      gram[i * channels + i] += regularisation * trace / Double(channels)
    }
    guard let inverse = inversePositiveDefinite(gram, size: channels) else { return nil }
    self.inverse = inverse
  }

  /// The projection of a bin's complex responses.
  func project(_ responses: DirectionalResponses, bin: Int) -> EarCoefficients {
    responses.values.withUnsafeBufferPointer { values in
      let row = values.baseAddress! + bin * 4 * lanes
      for i in 0..<(4 * lanes) { targets.pointer[i] = row[i] }
    }
    return solveTargets()
  }

  /// The projection of a bin's magnitudes with the phases that `previous` decodes to, turned by
  /// `advance`; below `share` 1 mixed with the complex responses.
  func projectMagnitudes(
    _ responses: DirectionalResponses, bin: Int, previous: EarCoefficients, advance: Complex,
    share: Double
  ) -> EarCoefficients {
    responses.values.withUnsafeBufferPointer { values in
      let row = values.baseAddress! + bin * 4 * lanes
      setTarget(row, previous.left, ear: 0, advance: advance, share: Float(share))
      setTarget(row, previous.right, ear: 1, advance: advance, share: Float(share))
    }
    return solveTargets()
  }

  private func setTarget(
    _ row: UnsafePointer<Float>, _ previous: [Complex], ear: Int, advance: Complex, share: Float
  ) {
    let responses = UnsafeRawPointer(row + 2 * ear * lanes)
    let target = targets.pointer + 2 * ear * lanes
    let coefficients = previous.map { SIMD2(Float($0.re), Float($0.im)) }
    let (turnR, turnI) = (Float(advance.re), Float(advance.im))
    for d in stride(from: 0, to: lanes, by: 8) {
      var (zr, zi) = (SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0))
      for c in 0..<channels {
        let y = load8(harmonics.pointer + c * lanes + d)
        zr += y * coefficients[c].x
        zi += y * coefficients[c].y
      }
      let hr = load8(responses, d)
      let hi = load8(responses, lanes + d)
      let length = (zr * zr + zi * zi).squareRoot() + 1e-20
      let scale = (hr * hr + hi * hi).squareRoot() / length
      let phasedR = (zr * turnR - zi * turnI) * scale
      let phasedI = (zr * turnI + zi * turnR) * scale
      store8(phasedR * share + hr * (1 - share), target + d)
      store8(phasedI * share + hi * (1 - share), target + lanes + d)
    }
  }

  private func solveTargets() -> EarCoefficients {
    var sums = [SIMD4<Double>](repeating: .zero, count: channels)
    for c in 0..<channels {
      var accumulators = (
        SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0),
        SIMD8<Float>(repeating: 0)
      )
      for d in stride(from: 0, to: lanes, by: 8) {
        let y = load8(harmonics.pointer + c * lanes + d) * load8(weights.pointer + d)
        accumulators.0 += y * load8(targets.pointer + d)
        accumulators.1 += y * load8(targets.pointer + lanes + d)
        accumulators.2 += y * load8(targets.pointer + 2 * lanes + d)
        accumulators.3 += y * load8(targets.pointer + 3 * lanes + d)
      }
      sums[c] = SIMD4(
        Double(accumulators.0.sum()), Double(accumulators.1.sum()), Double(accumulators.2.sum()),
        Double(accumulators.3.sum()))
    }
    var result = EarCoefficients(left: [], right: [])
    for i in 0..<channels {
      var sum = SIMD4<Double>.zero
      for j in 0..<channels { sum += sums[j] * inverse[i * channels + j] }
      result.left.append(Complex(sum.x, sum.y))
      result.right.append(Complex(sum.z, sum.w))
    }
    return result
  }
}

@inline(__always)
private func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
}

@inline(__always)
private func load8(_ p: UnsafeRawPointer, _ offset: Int) -> SIMD8<Float> {
  p.loadUnaligned(fromByteOffset: offset * 4, as: SIMD8<Float>.self)
}

@inline(__always)
private func store8(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).storeBytes(of: v, as: SIMD8<Float>.self)
}
