// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry
private import SignalProcessing

/// Converts the four spectra of a first-order soundfield in one analysis frame to the spectra of
/// two ears, band by band.
///
/// The `WaveModel` of a band gives the encoding of two waves in N3D, B = (b1 b2), their powers
/// P = diag(p1, p2), the diffuse power pd and the covariance C = B P B' + pd I, where ' denotes the
/// conjugate transpose. The waves s are estimated from the channels x with the least mean square
/// error: s = P B' C^-1 x = (pd P^-1 + B'B)^-1 B' x.
///
/// The ear signals are y = H s + M (x - B s), where H contains the ears' responses to the two waves
/// and M is the linear decoder. According to the model, the energy at an ear is H P H' + pd M M'.
/// The energy of y is lower by pd (H - M B) (pd P^-1 + B'B)^-1 (H - M B)'. The gain of the residual
/// x - B s is therefore raised until the energy is correct, at most to `largestGain`. (The approach
/// is that of Vilkamo, Baeckstroem, Kuntz, "Optimized covariance domain framework for
/// time-frequency processing of spatial audio", JAES 61, 2013.)
struct ParametricFrame: ~Copyable {
  private let bins: Int
  private let bands: Int
  private let forgetting: Float
  /// The first bin of each band, followed by the number of bins: bands + 1 values.
  private let edges: UnsafeMutablePointer<Int>
  /// The covariances in ACN order and SN3D scale: bands x 4 columns x 4 rows.
  private let covariances: UnsafeMutablePointer<SIMD4<Float>>
  /// The linear decoder for ACN order and SN3D scale: bins x 2 ears x (real, imaginary) x 4
  /// channels.
  private let linear: UnsafeMutablePointer<SIMD4<Float>>
  /// The responses to the two waves: 2 x bins x (left real, left imaginary, right real, right
  /// imaginary).
  private let responses: UnsafeMutablePointer<SIMD4<Float>>
  private let eigen = SymmetricEigen()
  private let radiansPerSecond: Double
  private let table: UnsafePointer<SIMD4<Float>>
  private let waves: PlaneWaveResponses

  static var largestGain: Float { @_noLocks get { 2 } }
  /// The width of a band as a fraction of its lower edge. The width is rounded to whole bins, at
  /// least one. The last band may be narrower.
  static let bandwidth = 0.12

  /// - Parameters:
  ///   - filters: the linear decoder, of first order.
  ///   - waves: the responses to plane waves.
  ///   - forgetting: the weight of the previous covariance in each new one, 0 to 1.
  init(filters: BinauralFilters, waves: PlaneWaveResponses, forgetting: Float) {
    self.waves = waves
    self.forgetting = forgetting
    bins = waves.bins
    radiansPerSecond = -2 * .pi * waves.sampleRate / Double(waves.size)
    table = UnsafeRawPointer(waves.table.pointer).assumingMemoryBound(to: SIMD4<Float>.self)
    var borders = [0]
    while borders[borders.count - 1] < bins {
      let last = borders[borders.count - 1]
      let width = max(1, Int((Double(last) * Self.bandwidth).rounded()))
      borders.append(min(bins, last + width))
    }
    bands = borders.count - 1
    edges = .allocate(capacity: borders.count)
    edges.initialize(from: borders, count: borders.count)
    covariances = .allocate(capacity: bands * 4)
    covariances.initialize(repeating: .zero, count: bands * 4)
    linear = .allocate(capacity: bins * 4)
    linear.initialize(repeating: .zero, count: bins * 4)
    responses = .allocate(capacity: bins * 2)
    responses.initialize(repeating: .zero, count: bins * 2)
    transform(filters, size: waves.size)
  }

  deinit {
    edges.deallocate()
    covariances.deallocate()
    linear.deallocate()
    responses.deallocate()
  }

  private func transform(_ filters: BinauralFilters, size: Int) {
    let fft = RealFFT(size: size, batch: 8)
    let time = AlignedFloats(count: size * 8)
    let real = AlignedFloats(count: bins * 8)
    let imaginary = AlignedFloats(count: bins * 8)
    for (lane, filter) in (filters.left + filters.right).enumerated() {
      for n in 0..<min(filter.count, size) { time.pointer[8 * n + lane] = filter[n] }
    }
    fft.forward(time.pointer, real: real.pointer, imaginary: imaginary.pointer)
    for i in 0..<(2 * bins) {
      let at = 4 * i
      for c in 0..<4 {
        linear[2 * i][c] = real.pointer[at + c]
        linear[2 * i + 1][c] = imaginary.pointer[at + c]
      }
    }
  }

  @_noLocks
  func reset() {
    for i in 0..<(bands * 4) { covariances[i] = .zero }
  }

  /// The number of vectors that `saveMemory` and `restoreMemory` copy.
  var memoryCount: Int { @_noLocks get { bands * 4 } }

  @_noLocks
  func saveMemory(into destination: UnsafeMutablePointer<SIMD4<Float>>) {
    for i in 0..<(bands * 4) { destination[i] = covariances[i] }
  }

  @_noLocks
  func restoreMemory(from source: UnsafePointer<SIMD4<Float>>) {
    for i in 0..<(bands * 4) { covariances[i] = source[i] }
  }

  /// Renders one analysis frame, and updates the covariances from its spectra.
  ///
  /// - Parameters:
  ///   - real: the real parts of the soundfield's spectra, relative to the stage: bins x 4
  ///     channels, in ACN order and SN3D scale.
  ///   - imaginary: the imaginary parts in the same arrangement.
  ///   - pose: the rotation from the head to the stage in this analysis frame.
  ///   - earReal: receives the real parts of the ears' spectra, bins x 2 ears.
  ///   - earImaginary: receives the imaginary parts of the ears' spectra, bins x 2 ears.
  @_noLocks
  func render(
    real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>, pose: Quaternion,
    earReal: UnsafeMutablePointer<Float>, earImaginary: UnsafeMutablePointer<Float>
  ) {
    let re = UnsafeMutableRawPointer(real).assumingMemoryBound(to: SIMD4<Float>.self)
    let im = UnsafeMutableRawPointer(imaginary).assumingMemoryBound(to: SIMD4<Float>.self)
    let yr = UnsafeMutableRawPointer(earReal).assumingMemoryBound(to: SIMD2<Float>.self)
    let yi = UnsafeMutableRawPointer(earImaginary).assumingMemoryBound(to: SIMD2<Float>.self)
    let toHead = RotationMatrix(pose.conjugate)
    let turn = FieldTurn(toHead)
    for band in 0..<bands {
      let range = edges[band]..<edges[band + 1]
      guard measure(band, re, im, range) else {
        for k in range { (yr[k], yi[k]) = (.zero, .zero) }
        continue
      }
      eigen.decompose()
      let beams = WaveBeams(WaveModel(eigen, bins: range.count), turn: toHead)
      lookUp(beams.first, into: responses, range)
      lookUp(beams.second, into: responses + bins, range)
      let gains = residualGains(beams, range)
      for k in range {
        let (xr, xi) = (turn.apply(re[k]), turn.apply(im[k]))
        (yr[k], yi[k]) = mix(k, xr, xi, beams, gains)
      }
    }
  }

  /// Updates the covariance of a band and writes it to `eigen.matrix`, in N3D scale and the order W
  /// X Y Z. Returns false if the covariance is zero.
  @_noLocks
  private func measure(
    _ band: Int, _ re: UnsafePointer<SIMD4<Float>>, _ im: UnsafePointer<SIMD4<Float>>,
    _ range: Range<Int>
  ) -> Bool {
    let kept = covariances + 4 * band
    var sums = (kept[0], kept[1], kept[2], kept[3])
    let old = forgetting
    let new = (1 - forgetting) / Float(range.count)
    sums = (sums.0 * old, sums.1 * old, sums.2 * old, sums.3 * old)
    for k in range {
      let (a, b) = (re[k], im[k])
      let (c, d) = (a * new, b * new)
      sums.0 += a * c.x + b * d.x
      sums.1 += a * c.y + b * d.y
      sums.2 += a * c.z + b * d.z
      sums.3 += a * c.w + b * d.w
    }
    // Decayed covariances must not become denormal numbers, because arithmetic with these is slow.
    if sums.0.x + sums.1.y + sums.2.z + sums.3.w < 1e-24 { sums = (.zero, .zero, .zero, .zero) }
    (kept[0], kept[1], kept[2], kept[3]) = sums
    let scale = SIMD4<Double>(1, realtime_sqrt(3), realtime_sqrt(3), realtime_sqrt(3))
    var trace = 0.0
    for i in 0..<4 {
      // Change the order from W Y Z X to W X Y Z.
      let column = kept[i == 0 ? 0 : (i == 1 ? 3 : i - 1)]
      let ordered = SIMD4(Double(column.x), Double(column.w), Double(column.y), Double(column.z))
      let row = ordered * scale * scale[i]
      for j in 0..<4 { eigen.matrix[4 * i + j] = row[j] }
      trace += row[i]
    }
    return trace > 0
  }

  /// Fills a range of bins of `target` with both ears' responses to a wave from `direction`, which
  /// is relative to the head.
  @_noLocks
  private func lookUp(
    _ direction: SIMD3<Double>, into target: UnsafeMutablePointer<SIMD4<Float>>,
    _ range: Range<Int>
  ) {
    let place = DirectionGrid.place(direction)
    let rows = place.points &* bins
    let shares = place.shares
    var phases = (ArrivalPhase(), ArrivalPhase())
    phases.0 = ArrivalPhase(
      radians: radiansPerSecond * GapFilling.arrival(direction, ear: 0), bin: range.lowerBound)
    phases.1 = ArrivalPhase(
      radians: radiansPerSecond * GapFilling.arrival(direction, ear: 1), bin: range.lowerBound)
    for k in range {
      let near = table[rows.x + k] * shares.x + table[rows.y + k] * shares.y
      let far = table[rows.z + k] * shares.z + table[rows.w + k] * shares.w
      let h = near + far
      let (a, b) = (phases.0.next(), phases.1.next())
      target[k] = SIMD4(
        h.x * a.x - h.y * a.y, h.x * a.y + h.y * a.x, h.z * b.x - h.w * b.y,
        h.z * b.y + h.w * b.x)
    }
  }

  /// Returns the gains of the residual for the left and the right ear. With these gains, the energy
  /// at each ear is that of the model, as far as gains from 1 to `largestGain` allow.
  @_noLocks
  private func residualGains(_ beams: borrowing WaveBeams, _ range: Range<Int>) -> SIMD2<Float> {
    // With G = (pd P^-1 + B'B)^-1, m = M B and e = H - m, the following are sums over a few bins of
    // the band: all = |M|^2 in N3D, lost = e G e', taken = m G m', and shared is the real part of
    // H G m'. The gain g solves rest g^2 + 2 shared g = rest + 2 shared + lost, where rest is
    // all - taken.
    var (all, lost, taken, shared) = (
      SIMD2<Float>.zero, SIMD2<Float>.zero, SIMD2<Float>.zero, SIMD2<Float>.zero
    )
    for k in stride(from: range.lowerBound, to: range.upperBound, by: max(1, range.count / 4)) {
      let (h1, h2) = (responses[k], responses[bins + k])
      for ear in 0..<2 {
        let (mr, mi) = (linear[4 * k + 2 * ear], linear[4 * k + 2 * ear + 1])
        let m1 = SIMD2((mr * beams.firstWave).sum(), (mi * beams.firstWave).sum())
        let m2 = SIMD2((mr * beams.secondWave).sum(), (mi * beams.secondWave).sum())
        let w1 = ear == 0 ? h1.lowHalf : h1.highHalf
        let w2 = ear == 0 ? h2.lowHalf : h2.highHalf
        let (e1, e2) = (w1 - m1, w2 - m2)
        let power = mr * mr + mi * mi
        all[ear] += power.x + (power.y + power.z + power.w) / 3
        lost[ear] += beams.form(e1, e2, e1, e2)
        taken[ear] += beams.form(m1, m2, m1, m2)
        shared[ear] += beams.form(w1, w2, m1, m2)
      }
    }
    var gains = SIMD2<Float>(1, 1)
    for ear in 0..<2 where all[ear] > 0 {
      let rest = max(all[ear] - taken[ear], 1e-3 * all[ear])
      let wanted = rest + 2 * shared[ear] + lost[ear]
      let root = realtime_sqrtf(max(0, shared[ear] * shared[ear] + rest * wanted))
      gains[ear] = min(Self.largestGain, max(1, (root - shared[ear]) / rest))
    }
    return gains
  }

  /// Returns the real parts and the imaginary parts of both ears' spectra in bin `k`. The channels
  /// `xr` (real parts) and `xi` (imaginary parts) are relative to the head.
  @_noLocks
  private func mix(
    _ k: Int, _ xr: SIMD4<Float>, _ xi: SIMD4<Float>, _ beams: borrowing WaveBeams,
    _ gains: SIMD2<Float>
  ) -> (SIMD2<Float>, SIMD2<Float>) {
    let a = SIMD2((beams.firstBeam * xr).sum(), (beams.firstBeam * xi).sum())
    let b = SIMD2((beams.secondBeam * xr).sum(), (beams.secondBeam * xi).sum())
    let rr = xr - beams.firstWave * a.x - beams.secondWave * b.x
    let ri = xi - beams.firstWave * a.y - beams.secondWave * b.y
    let (h1, h2) = (responses[k], responses[bins + k])
    let m = linear + 4 * k
    let restR = SIMD2((m[0] * rr - m[1] * ri).sum(), (m[2] * rr - m[3] * ri).sum())
    let restI = SIMD2((m[0] * ri + m[1] * rr).sum(), (m[2] * ri + m[3] * rr).sum())
    let (h1r, h1i) = (h1.evenHalf, h1.oddHalf)
    let (h2r, h2i) = (h2.evenHalf, h2.oddHalf)
    let real = h1r * a.x - h1i * a.y + h2r * b.x - h2i * b.y + restR * gains
    let imaginary = h1r * a.y + h1i * a.x + h2r * b.y + h2i * b.x + restI * gains
    return (real, imaginary)
  }
}
