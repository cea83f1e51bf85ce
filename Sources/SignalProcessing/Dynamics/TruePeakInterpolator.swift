// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Estimates the magnitude of the waveform at and between the samples by four-fold polyphase
/// oversampling (ITU-R BS.1770-5, Annex 2) and parabolas at local maxima.
///
/// The 12-tap phases of the recommendation roll off well below half the sample rate. In this
/// implementation, each phase has 64 taps: a sinc function times a Kaiser window (beta 2.5). The
/// parabolas reduce the under-reading at half the sample rate from 0.69 dB to 0.07 dB.
struct TruePeakInterpolator {
  static var taps: Int { @_noLocks get { 64 } }
  static var phases: Int { @_noLocks get { 3 } }
  /// The number of frames in a cell. Each call of `measure` examines one cell.
  static var cellFrames: Int { @_noLocks get { 16 } }
  /// The number of frames that `measure` reads: 32 before the cell, the cell, and 32 after it.
  static var contextFrames: Int { @_noLocks get { 80 } }

  /// The largest ratio of a parabola's maximum to the largest of the three magnitudes that define
  /// the parabola.
  private static var parabolaGain: Float { @_noLocks get { 1.125 } }

  /// The coefficients of the filters, taps x phases.
  private let coefficients: UnsafeMutablePointer<Float>
  /// Magnitudes of one cell at four times the sample rate, with one more value on each side.
  private let magnitudes: UnsafeMutablePointer<Float>
  /// An upper bound on every estimate, as a multiple of the largest sample magnitude.
  let worstCaseGain: Float
  /// The factor of `bend` in `bound(peak:bend:)`.
  let bendGain: Float

  init() {
    let count = Self.taps * Self.phases
    coefficients = .allocate(capacity: count)
    magnitudes = .allocate(capacity: 4 * Self.cellFrames + 2)
    magnitudes.initialize(repeating: 0, count: 4 * Self.cellFrames + 2)
    var largest = 1.0
    for phase in 0..<Self.phases {
      let response = Self.response(fraction: Double(phase + 1) / 4)
      largest = max(largest, response.reduce(0) { $0 + abs($1) })
      for tap in 0..<Self.taps {
        (coefficients + tap * Self.phases + phase).initialize(to: Float(response[tap]))
      }
    }
    worstCaseGain = Float(largest) * Self.parabolaGain * 1.0001
    bendGain = Float(Self.largestBendGain()) * 1.0001
  }

  func deallocate() {
    coefficients.deallocate()
    magnitudes.deallocate()
  }

  /// Returns an upper bound on every estimate in a context.
  ///
  /// - Parameters:
  ///   - peak: the largest magnitude of the samples.
  ///   - bend: the largest magnitude of the second differences of the samples, x[n - 1] - 2 x[n] +
  ///     x[n + 1].
  @_noLocks
  func bound(peak: Float, bend: Float) -> Float {
    // 1.001 allows for rounding, and for the moments of the windowed taps, which are not exactly
    // those of a delay.
    min(worstCaseGain * peak, 1.001 * peak + bendGain * bend)
  }

  /// Computes `bendGain`, without the allowance for rounding.
  ///
  /// A filter with zero sum and zero first moment is a weighted sum of second differences. One such
  /// filter is the deviation of a phase from the line between two neighbouring samples. Another is
  /// the second difference at four times the rate. A parabola adds at most an eighth of that
  /// difference.
  private static func largestBendGain() -> Double {
    let centre = taps / 2
    /// Returns `taps` + 2 coefficients that interpolate the signal `quarters` / 4 frames after
    /// index `centre`.
    func phase(_ quarters: Int) -> [Double] {
      let (whole, rest) = (Int((Double(quarters) / 4).rounded(.down)), quarters & 3)
      var filter = [Double](repeating: 0, count: taps + 2)
      let inner =
        rest > 0
        ? response(fraction: Double(rest) / 4) : (0..<taps).map { $0 == centre - 1 ? 1 : 0 }
      for (tap, value) in inner.enumerated() where filter.indices ~= tap + 1 + whole {
        filter[tap + 1 + whole] += value
      }
      return filter
    }
    /// Subtracts from `filter` the linear interpolation with the same sum and first moment. The
    /// remainder is a weighted sum of second differences. Returns the sum of the weights'
    /// magnitudes.
    func weights(_ filter: [Double]) -> Double {
      var rest = filter
      let sum = filter.reduce(0, +)
      let moment = filter.enumerated().reduce(0) { $0 + $1.element * Double($1.offset - centre) }
      rest[centre] -= sum - moment
      rest[centre + 1] -= moment
      var (first, second, total) = (0.0, 0.0, 0.0)
      for value in rest {
        first += value
        second += first
        total += abs(second)
      }
      return total
    }
    return (0...3).map { quarters in
      let bend = zip(phase(quarters - 1), zip(phase(quarters), phase(quarters + 1)))
        .map { 2 * $1.0 - $0 - $1.1 }
      return weights(phase(quarters)) + weights(bend) / 8
    }.max() ?? 0
  }

  /// Returns `taps` coefficients that interpolate the signal `fraction` frames after index
  /// `taps` / 2 - 1.
  private static func response(fraction: Double) -> [Double] {
    let beta = 2.5
    let half = Double(taps / 2)
    let raw = (0..<taps).map { tap -> Double in
      let distance = Double(tap) - (half - 1) - fraction
      let edge = distance / half
      let window = besselI0(beta * realtime_sqrt(max(0, 1 - edge * edge))) / besselI0(beta)
      return realtime_sin(.pi * distance) / (.pi * distance) * window
    }
    let sum = raw.reduce(0, +)
    return raw.map { $0 / sum }
  }

  /// Returns the modified Bessel function of the first kind and order 0 at `x`.
  private static func besselI0(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    for k in 1...24 {
      term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
      sum += term
    }
    return sum
  }

  /// For each frame i of the cell, finds the largest estimate from this frame up to, but not
  /// including, the next one, and adds `margin`. Raises `peaks[i]` to the sum; a larger `peaks[i]`
  /// does not change.
  ///
  /// - Parameters:
  ///   - context: `contextFrames` samples; the cell consists of frames 32 to 47.
  ///   - peaks: `cellFrames` values.
  ///   - threshold: estimates that cannot exceed this value after `margin` is added are skipped.
  ///   - margin: added to every estimate.
  @_noLocks
  func measure(
    _ context: UnsafePointer<Float>, raising peaks: UnsafeMutablePointer<Float>,
    above threshold: Float, margin: Float
  ) {
    oversample(context)
    let floor = (threshold - margin) / Self.parabolaGain
    for i in 0..<Self.cellFrames {
      var largest: Float = 0
      for k in (4 * i + 1)...(4 * i + 4) {
        let here = magnitudes[k]
        guard here > floor else { continue }
        largest = max(largest, here)
        let before = magnitudes[k - 1]
        let after = magnitudes[k + 1]
        let curvature = 2 * here - before - after
        guard here >= before, here >= after, curvature > 0 else { continue }
        let slope = before - after
        largest = max(largest, here + slope * slope / (8 * curvature))
      }
      if largest > 0 { peaks[i] = max(peaks[i], largest + margin) }
    }
  }

  @_noLocks
  private func oversample(_ context: UnsafePointer<Float>) {
    // The value a quarter frame before the cell, for the parabola at the first frame.
    var lead: Float = 0
    for tap in 0..<Self.taps {
      lead += coefficients[tap * Self.phases + 2] * context[tap]
    }
    magnitudes[0] = abs(lead)
    for first in stride(from: 0, to: Self.cellFrames, by: 8) {
      oversampleEight(context, first)
    }
    magnitudes[4 * Self.cellFrames + 1] = abs(context[32 + Self.cellFrames])
  }

  @_noLocks
  private func oversampleEight(_ context: UnsafePointer<Float>, _ first: Int) {
    var quarter = SIMD8<Float>(repeating: 0)
    var half = SIMD8<Float>(repeating: 0)
    var threeQuarters = SIMD8<Float>(repeating: 0)
    let source = UnsafeRawPointer(context + 1 + first)
    for tap in 0..<Self.taps {
      let x = source.loadUnaligned(
        fromByteOffset: tap * MemoryLayout<Float>.stride, as: SIMD8<Float>.self)
      let c = coefficients + tap * Self.phases
      quarter += x * c[0]
      half += x * c[1]
      threeQuarters += x * c[2]
    }
    for lane in 0..<8 {
      let out = magnitudes + 1 + 4 * (first + lane)
      out[0] = abs(context[32 + first + lane])
      out[1] = abs(quarter[lane])
      out[2] = abs(half[lane])
      out[3] = abs(threeQuarters[lane])
    }
  }
}
