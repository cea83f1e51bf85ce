// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry
internal import SignalProcessing

/// The responses of both ears to plane waves from any direction, bin by bin.
///
/// Each response is advanced by the time at which its wave arrives at the ear of a rigid sphere,
/// relative to the arrival at the sphere's centre. The advanced responses are interpolated to
/// `DirectionGrid`. A look-up interpolates between the directions of the grid, and delays the
/// result by the arrival time for the exact direction.
/// (Brinkmann, Weinzierl, "Comparison of head-related transfer functions pre-processing techniques
/// for spherical harmonics decomposition", AES AVAR 2018, compare alignment methods.)
public final class PlaneWaveResponses: @unchecked Sendable {
  /// The length of an analysis frame, in samples.
  let frame: Int
  /// The size of the transform, in samples: enough for an analysis frame and the tail of the
  /// responses.
  let size: Int
  /// The sample rate, in Hz.
  let sampleRate: Double
  /// The advanced responses, all delayed by `BinauralFilters.delaySeconds`: directions of
  /// `DirectionGrid` x bins x (left real, left imaginary, right real, right imaginary).
  let table: AlignedFloats

  var bins: Int { size / 2 + 1 }
  var isFinite: Bool {
    (0..<DirectionGrid.count * bins * 4).allSatisfy { table.pointer[$0].isFinite }
  }

  /// Computes the responses from a set.
  ///
  /// - Parameters:
  ///   - set: prepared for the playback rate and normalised in level.
  ///   - equalisation: whether the set's diffuse field is made flat.
  ///   - isCancelled: polled during the computation; return true to stop.
  /// - Throws: `HRTFError.interrupted` if `isCancelled` returned true.
  public init(
    set: HRTFSet, equalisation: DecoderDesign.Equalisation, isCancelled: () -> Bool = { false }
  ) throws(HRTFError) {
    frame = Self.frame(sampleRate: set.sampleRate)
    sampleRate = set.sampleRate
    let delay = BinauralFilters.delaySeconds
    let needed = set.effectiveTaps + Int(delay * sampleRate) + 1
    size = needed <= frame ? 2 * frame : 4 * frame
    var responses = try DecoderDesign.responses(
      of: set.shortened(to: size - frame - Int(delay * sampleRate) - 1), size: size, isCancelled)
    if equalisation == .diffuse { DecoderDesign.flatten(&responses) }
    table = AlignedFloats(count: DirectionGrid.count * (size / 2 + 1) * 4)
    fill(Self.aligned(responses, delay: delay), responses.directions)
  }

  /// Returns the length of an analysis frame in samples: the power of two, at least 128, whose
  /// duration is nearest to 10.7 ms by ratio.
  static func frame(sampleRate: Double) -> Int {
    var frame = 128
    while Double(frame) * 1.42 < sampleRate * 512 / 48000 { frame *= 2 }
    return frame
  }

  /// Returns the responses, each advanced by the arrival time of its wave and delayed by `delay`
  /// seconds: directions x bins x 4, arranged as in `table`.
  private static func aligned(_ responses: DirectionalResponses, delay: Double) -> [Float] {
    let bins = responses.bins
    var result = [Float](repeating: 0, count: responses.directions.count * bins * 4)
    for (d, v) in responses.directions.enumerated() {
      for ear in 0...1 {
        let seconds = GapFilling.arrival(v, ear: ear) - delay
        let step = Complex(angle: 2 * .pi * responses.binWidth * seconds)
        var turn = Complex(1)
        for k in 0..<bins {
          let value = responses[k, ear, d] * turn
          let at = (d * bins + k) * 4 + 2 * ear
          result[at] = Float(value.re)
          result[at + 1] = Float(value.im)
          turn = turn * step
        }
      }
    }
    return result
  }

  private func fill(_ aligned: [Float], _ directions: [SIMD3<Double>]) {
    let row = bins * 4
    aligned.withUnsafeBufferPointer { source in
      for point in 0..<DirectionGrid.count {
        let target = table.pointer + point * row
        for (d, weight) in Self.neighbours(of: DirectionGrid.direction(point), in: directions) {
          let (from, share) = (source.baseAddress! + d * row, Float(weight))
          for i in 0..<row { target[i] += from[i] * share }
        }
      }
    }
  }

  /// Returns the indices and weights of the six directions nearest to `v`, or of all if there are
  /// fewer. The weights sum to 1. If possible, the weighted mean of the directions points to `v`
  /// within a small tolerance.
  ///
  /// Of all such weights, these minimise the sum of (w d)^2 over the directions (weight w, distance
  /// d from `v`).
  static func neighbours(
    of v: SIMD3<Double>, in directions: [SIMD3<Double>]
  ) -> [(Int, Double)] {
    var nearest: [(index: Int, distance: Double)] = []
    for (index, direction) in directions.enumerated() {
      let difference = direction - v
      let distance = (difference * difference).sum()
      if nearest.count == 6, distance >= nearest[5].distance { continue }
      let at = nearest.firstIndex { $0.distance > distance } ?? nearest.count
      nearest.insert((index, distance), at: at)
      if nearest.count > 6 { nearest.removeLast() }
    }
    // On two axes perpendicular to v, direction i has the coordinates x_i and y_i. Its weight is
    // u_i (a + b x_i + c y_i), where u_i decreases with the distance from v. The constants a, b and
    // c are chosen so that the weights sum to 1 and the weighted sums of x_i and y_i are 0.
    let pole = abs(v.z) < 0.9 ? SIMD3(0, 0, 1.0) : SIMD3(1.0, 0, 0)
    let east = normalized(cross(pole, v))
    let north = cross(v, east)
    var gram = [Double](repeating: 0, count: 9)
    let rows = nearest.map { item -> (u: Double, basis: [Double]) in
      let difference = directions[item.index] - v
      let basis = [1, (difference * east).sum(), (difference * north).sum()]
      let u = 1 / (item.distance + 1e-7)
      for i in 0..<3 { for j in 0..<3 { gram[i * 3 + j] += u * basis[i] * basis[j] } }
      return (u, basis)
    }
    // This slight regularisation keeps the solution finite if all neighbours lie on a line.
    for i in 1..<3 { gram[i * 4] += 1e-6 * gram[0] }
    guard let inverse = Cholesky.inverse(gram, size: 3) else {
      return [(nearest[0].index, 1)]
    }
    var weights = rows.map { row in
      row.u * (0..<3).reduce(0) { $0 + inverse[$1] * row.basis[$1] }
    }
    let sum = weights.reduce(0, +)
    weights = weights.map { $0 / sum }
    return zip(nearest, weights).map { ($0.index, $1) }
  }
}

private func normalized(_ v: SIMD3<Double>) -> SIMD3<Double> {
  v / (v * v).sum().squareRoot()
}

extension HRTFSet {
  /// Returns the set with responses of at most `limit` samples. Longer responses are faded out over
  /// the last eighth of `limit`.
  func shortened(to limit: Int) -> HRTFSet {
    guard taps > limit else { return self }
    var result = self
    result.taps = limit
    let fade = limit / 8
    result.impulseResponses = []
    result.impulseResponses.reserveCapacity(delays.count * limit)
    for row in delays.indices {
      for n in 0..<limit {
        let left = Float(limit - n) / Float(fade)
        result.impulseResponses.append(impulseResponses[row * taps + n] * min(1, left))
      }
    }
    return result
  }
}
