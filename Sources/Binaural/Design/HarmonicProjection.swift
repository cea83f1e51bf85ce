// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
internal import Geometry
internal import SignalProcessing

/// The spherical-harmonic coefficients (N3D) of both ears in one bin.
struct EarCoefficients {
  var left: [Complex]
  var right: [Complex]

  /// The sum of the squared magnitudes: the decoder's energy in the diffuse field.
  var energy: Double {
    left.reduce(0) { $0 + $1.squaredMagnitude } + right.reduce(0) { $0 + $1.squaredMagnitude }
  }

  func scaled(by gain: Double) -> EarCoefficients {
    EarCoefficients(left: left.map { $0 * gain }, right: right.map { $0 * gain })
  }
}

/// The weighted least-squares projection of directional responses onto spherical harmonics.
///
/// The coefficients are D = H W Y^T (Y W Y^T + e I)^-1 with the responses H, the weights W, the N3D
/// harmonics Y, the identity I, and e = `regularisation` times the mean of the diagonal of Y W Y^T.
///
/// ## Threading
/// Several threads may project at the same time.
final class HarmonicProjection: @unchecked Sendable {
  /// The number of directions that are processed together. Their harmonics fit into the L1 cache.
  static let tile = 32

  let channels: Int
  private let lanes: Int
  private let tiles: Int
  private let inverse: [Double]
  /// The harmonics: tiles x channels x 32 directions.
  private let harmonics: AlignedFloats
  private let weights: AlignedFloats

  init?(
    order: Int, directions: [SIMD3<Double>], weights: [Double], lanes: Int,
    regularisation: Double = 1e-5
  ) {
    let channels = SphericalHarmonics.channelCount(order: order)
    let (tile, count) = (Self.tile, (lanes + Self.tile - 1) / Self.tile)
    (self.channels, self.lanes, tiles) = (channels, lanes, count)
    harmonics = AlignedFloats(count: count * channels * tile)
    self.weights = AlignedFloats(count: count * tile)
    var gram = [Double](repeating: 0, count: channels * channels)
    for (d, v) in directions.enumerated() {
      let y = SphericalHarmonics.evaluateN3D(order: order, v)
      let place = harmonics.pointer + (d / tile * channels) * tile + d % tile
      gram.withUnsafeMutableBufferPointer { gram in
        y.withUnsafeBufferPointer { y in
          for i in 0..<channels {
            place[i * tile] = Float(y[i])
            let scaled = weights[d] * y[i]
            for j in 0...i { gram[i * channels + j] += scaled * y[j] }
          }
        }
      }
      self.weights.pointer[d] = Float(weights[d])
    }
    let trace = (0..<channels).reduce(0) { $0 + gram[$1 * channels + $1] }
    for i in 0..<channels {
      gram[i * channels + i] += regularisation * trace / Double(channels)
    }
    guard let inverse = Cholesky.inverse(gram, size: channels) else { return nil }
    self.inverse = inverse
  }

  /// Returns the projection of a bin's complex responses.
  func project(_ responses: DirectionalResponses, bin: Int) -> EarCoefficients {
    EarCoefficients(
      left: project(responses, bin: bin, ear: 0), right: project(responses, bin: bin, ear: 1))
  }

  func project(_ responses: DirectionalResponses, bin: Int, ear: Int) -> [Complex] {
    project(responses, bin, ear, following: nil)
  }

  /// The phases for the magnitudes of a bin. In each direction, the coefficients `previous` of the
  /// next lower bin give a phase, which is rotated by `advance`. The magnitude with this phase has
  /// the weight `share`. The bin's own complex response has the weight 1 - `share`.
  struct Phases {
    var previous: [Complex]
    var advance: Complex
    var share: Double
  }

  /// Returns the projection of an ear's magnitudes in a bin, with phases from the next lower bin.
  func projectMagnitudes(
    _ responses: DirectionalResponses, bin: Int, ear: Int, following phases: Phases
  ) -> [Complex] {
    project(responses, bin, ear, following: phases)
  }

  private func project(
    _ responses: DirectionalResponses, _ bin: Int, _ ear: Int, following phases: Phases?
  ) -> [Complex] {
    let tile = Self.tile
    var sums = [SIMD8<Float>](repeating: .zero, count: 2 * channels)
    let previous = (phases?.previous ?? []).map { SIMD2(Float($0.re), Float($0.im)) }
    let turn = phases.map { SIMD2(Float($0.advance.re), Float($0.advance.im)) } ?? .zero
    let share = Float(phases?.share ?? 0)
    withUnsafeTemporaryAllocation(byteCount: 8 * tile, alignment: 64) { target in
      let target = target.baseAddress!.assumingMemoryBound(to: Float.self)
      responses.withRow(bin: bin, ear: ear) { row in
        sums.withUnsafeMutableBufferPointer { sums in
          previous.withUnsafeBufferPointer { previous in
            for t in 0..<tiles {
              let y = harmonics.pointer + t * channels * tile
              for v in stride(from: 0, to: tile, by: 8) where t * tile + v < lanes {
                let d = t * tile + v
                var (hr, hi) = (load8(row + d), load8(row + lanes + d))
                if !previous.isEmpty {
                  let z = decode(y + v, previous.baseAddress!)
                  (hr, hi) = phased(hr, hi, z.re, z.im, turn, share)
                }
                store8(hr, target + v)
                store8(hi, target + tile + v)
              }
              accumulate(
                y, weights.pointer + t * tile, target, min(tile, lanes - t * tile),
                sums.baseAddress!)
            }
          }
        }
      }
    }
    return solved(sums)
  }

  /// Evaluates coefficients in eight consecutive directions, whose harmonics start at `y`.
  @inline(__always)
  private func decode(
    _ y: UnsafePointer<Float>, _ coefficients: UnsafePointer<SIMD2<Float>>
  ) -> (re: SIMD8<Float>, im: SIMD8<Float>) {
    var (re, im) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
    for c in 0..<channels {
      let value = load8(y + c * Self.tile)
      re += value * coefficients[c].x
      im += value * coefficients[c].y
    }
    return (re, im)
  }

  @inline(__always)
  private func accumulate(
    _ y: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ target: UnsafePointer<Float>,
    _ count: Int, _ sums: UnsafeMutablePointer<SIMD8<Float>>
  ) {
    for c in 0..<channels {
      var (re, im) = (sums[2 * c], sums[2 * c + 1])
      for v in stride(from: 0, to: count, by: 8) {
        let value = load8(y + c * Self.tile + v) * load8(weights + v)
        re += value * load8(target + v)
        im += value * load8(target + Self.tile + v)
      }
      sums[2 * c] = re
      sums[2 * c + 1] = im
    }
  }

  private func solved(_ sums: [SIMD8<Float>]) -> [Complex] {
    let totals = (0..<channels).map { c in
      SIMD2(Double(sums[2 * c].sum()), Double(sums[2 * c + 1].sum()))
    }
    return inverse.withUnsafeBufferPointer { inverse in
      totals.withUnsafeBufferPointer { totals in
        (0..<channels).map { i in
          var sum = SIMD2<Double>.zero
          for j in 0..<channels { sum += totals[j] * inverse[i * channels + j] }
          return Complex(sum.x, sum.y)
        }
      }
    }
  }
}

/// Combines the magnitudes of (hr, hi) with the phases of (zr, zi) rotated by `turn`. Returns
/// `share` times these values plus (1 - `share`) times (hr, hi).
@inline(__always)
private func phased(
  _ hr: SIMD8<Float>, _ hi: SIMD8<Float>, _ zr: SIMD8<Float>, _ zi: SIMD8<Float>,
  _ turn: SIMD2<Float>, _ share: Float
) -> (SIMD8<Float>, SIMD8<Float>) {
  let length = (zr * zr + zi * zi).squareRoot() + 1e-20
  let scale = (hr * hr + hi * hi).squareRoot() / length
  let re = (zr * turn.x - zi * turn.y) * scale
  let im = (zr * turn.y + zi * turn.x) * scale
  return (re * share + hr * (1 - share), im * share + hi * (1 - share))
}

@inline(__always)
private func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
}

@inline(__always)
private func store8(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(p).storeBytes(of: v, as: SIMD8<Float>.self)
}
