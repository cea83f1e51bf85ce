// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
private import SignalProcessing

/// Computes responses for unmeasured directions, such as those far below the horizon.
///
/// The measured responses are advanced by their arrival times at a rigid sphere. A
/// spherical-harmonic model of order 4 is fitted to them and evaluated in the gaps. The results are
/// delayed by their arrival times. (Ahrens, Thomas, Tashev, "HRTF magnitude modeling using a
/// non-regularized least-squares fit of spherical harmonics coefficients on incomplete data",
/// APSIPA 2012, also use a model of low order.) In every bin, the mean energy of the computed
/// responses is limited to that of the measured responses.
enum GapFilling {
  static let order = 4
  static let gap = 15 / 180 * Double.pi
  static let regularisation = 1e-3
  /// The radius of the sphere that defines the arrival times, in m.
  static var headRadius: Double { @_noLocks get { 0.0875 } }
  /// The speed of sound, in m/s.
  static var speedOfSound: Double { @_noLocks get { 343 } }

  /// Returns the directions of a Fibonacci lattice with 1000 points that are more than 15 degrees
  /// from every measured direction.
  static func gapDirections(of measured: [SIMD3<Double>]) -> [SIMD3<Double>] {
    let limit = realtime_cos(gap)
    return fibonacciLattice(count: 1000).filter { candidate in
      !measured.contains { ($0 * candidate).sum() >= limit }
    }
  }

  /// Returns the arrival time at an ear (0 left, 1 right) relative to that at the centre of the
  /// head, in s; negative if the source is on the ear's side.
  ///
  /// Sound travels straight to the ear on the source's side, and around the sphere to the other ear
  /// (Woodworth 1938).
  ///
  /// - Parameter v: the unit vector to the source, relative to the head.
  @_noLocks
  static func arrival(_ v: SIMD3<Double>, ear: Int) -> Double {
    let cosine = min(1, max(-1, ear == 0 ? v.y : -v.y))
    let path =
      cosine >= 0 ? -cosine : realtime_atan2(-cosine, realtime_sqrt(1 - cosine * cosine))
    return path * headRadius / speedOfSound
  }

  /// The latest possible arrival time, in s: that of sound from the side opposite the ear.
  static var latestArrival: Double { .pi / 2 * headRadius / speedOfSound }

  /// Returns the responses, followed by computed responses for the gaps. Adds nothing if there are
  /// no gaps or if the model cannot be fitted. Otherwise all weights are 0, and the caller must set
  /// them. The result is incomplete after a cancellation.
  static func fill(
    _ responses: DirectionalResponses, _ isCancelled: () -> Bool = { false }
  ) -> DirectionalResponses {
    let measured = responses.directions.count
    let added = gapDirections(of: responses.directions)
    guard !added.isEmpty,
      let fit = HarmonicProjection(
        order: order, directions: responses.directions, weights: responses.weights,
        lanes: responses.lanes, regularisation: regularisation)
    else { return responses }
    let aligned = shifted(responses, by: 1, isCancelled)
    var filled = DirectionalResponses(
      directions: responses.directions + added,
      weights: [Double](repeating: 0, count: measured + added.count),
      sampleRate: responses.sampleRate, size: responses.size)
    let harmonics = added.map { SphericalHarmonics.evaluateN3D(order: order, $0) }
    for k in 0..<responses.bins where !isCancelled() {
      let model = fit.project(aligned, bin: k)
      var energy = 0.0
      for (ear, coefficients) in [model.left, model.right].enumerated() {
        for d in 0..<measured { filled[k, ear, d] = aligned[k, ear, d] }
        for (i, y) in harmonics.enumerated() {
          var sum = Complex(0)
          for c in y.indices { sum += coefficients[c] * y[c] }
          filled[k, ear, measured + i] = sum
          energy += sum.squaredMagnitude
        }
      }
      let excess = energy / Double(added.count) / max(responses.diffuseEnergy(bin: k), 1e-20)
      if excess > 1 { filled.scale(bin: k, from: measured, by: 1 / excess.squareRoot()) }
    }
    return shifted(filled, by: -1, isCancelled)
  }

  /// Returns the responses, each advanced (`sign` 1) or delayed (`sign` -1) by its arrival time at
  /// the sphere. The result is incomplete after a cancellation.
  static func shifted(
    _ responses: consuming DirectionalResponses, by sign: Double,
    _ isCancelled: () -> Bool = { false }
  ) -> DirectionalResponses {
    for ear in 0...1 {
      let steps = responses.directions.map { v in
        Complex(angle: sign * 2 * .pi * responses.binWidth * arrival(v, ear: ear))
      }
      var turns = steps.map { _ in Complex(1) }
      for k in 0..<responses.bins where !isCancelled() {
        responses.multiply(bin: k, ear: ear, by: turns)
        for d in turns.indices { turns[d] = turns[d] * steps[d] }
      }
    }
    return responses
  }
}

/// Returns `count` near-uniform directions (Fibonacci lattice; Gonzalez, Mathematical Geosciences
/// 42, 2010).
func fibonacciLattice(count: Int) -> [SIMD3<Double>] {
  let golden = Double.pi * (1 + 5.0.squareRoot())
  return (0..<count).map { i in
    let z = 1 - (2 * Double(i) + 1) / Double(count)
    let r = (1 - z * z).squareRoot()
    let angle = golden * (Double(i) + 0.5)
    return SIMD3(r * realtime_cos(angle), r * realtime_sin(angle), z)
  }
}
