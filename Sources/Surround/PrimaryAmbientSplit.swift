// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Splits the spectra of left and right into centre and surrounds, one analysis frame at a time.
///
/// The smoothed covariance of the channels has two eigenvalues. The smaller eigenvalue is taken as
/// the power of the ambience in each channel. The eigenvector of the larger eigenvalue is taken as
/// the direction of the strongest source [Avendano and Jot, "A frequency-domain approach to
/// multichannel upmix", J. Audio Eng. Soc. 52, 740, 2004]. The coherence that unrelated signals
/// show by chance is subtracted first. The ambience is limited to a multiple of its smoothed power;
/// see `limitByFloor`.
struct PrimaryAmbientSplit: ~Copyable {
  /// The spectrum of one analysis frame.
  struct Spectra: ~Copyable {
    let re: AlignedFloats
    let im: AlignedFloats

    init(bins: Int) {
      re = AlignedFloats(count: bins + 8)
      im = AlignedFloats(count: bins + 8)
    }
  }

  let bins: Int
  let left: Spectra
  let right: Spectra
  let centre: Spectra
  let surroundLeft: Spectra
  let surroundRight: Spectra

  private typealias Lanes = SIMD8<Float>

  private let settings: UpmixSettings
  /// The weight of the newest analysis frame in the covariance (`newest`) and in the floor
  /// (`newestFloor`).
  private let newest: Float
  private let newestFloor: Float
  private let bias: Float
  /// The number of bins on either side of a bin in the running means that form the floor.
  private let reach: Int
  /// Four smoothed planes: the powers of left and right, and the real and imaginary parts of the
  /// cross spectrum. Each plane has space for at least one bin before the first bin and eight after
  /// the last.
  private let running: AlignedFloats
  private let planeStride: Int
  private let level: AlignedFloats
  private let floor: AlignedFloats
  private let sums: AlignedFloats
  private let ambience: AlignedFloats
  /// The cosine and the sine of the surrounds' phase shift for each bin.
  private let cosines: AlignedFloats
  private let sines: AlignedFloats

  /// The largest power that counts as silence, relative to full scale 1.
  private static let silence: Float = 1e-14

  /// Prepares the split.
  ///
  /// - Parameters:
  ///   - binWidth: the width of a bin, in Hz.
  ///   - hopSeconds: the time between analysis frames.
  ///   - overlap: the number of analysis frames that contain a sample.
  init(bins: Int, binWidth: Double, hopSeconds: Double, overlap: Int, settings: UpmixSettings) {
    self.bins = bins
    self.settings = settings
    left = Spectra(bins: bins)
    right = Spectra(bins: bins)
    centre = Spectra(bins: bins)
    surroundLeft = Spectra(bins: bins)
    surroundRight = Spectra(bins: bins)
    let keep = exponential(-hopSeconds / settings.covarianceSeconds)
    newest = Float(1 - keep)
    newestFloor = Float(1 - exponential(-hopSeconds / settings.floorSeconds))
    // The effective number of independent analysis frames in the covariance, times 1.7 for the
    // smoothing over bins.
    let independent = max(
      1.2, (1 + keep) / (1 - keep) / max(1, Double(overlap) / 2) * 1.7)
    bias = Float(settings.biasCorrection / independent)
    reach = max(1, Int((settings.floorWidth / binWidth / 2).rounded()))
    planeStride = (bins + 47) / 16 * 16
    running = AlignedFloats(count: 4 * planeStride)
    level = AlignedFloats(count: bins + 8)
    floor = AlignedFloats(count: bins + 8)
    sums = AlignedFloats(count: bins + 4 * reach + 24)
    ambience = AlignedFloats(count: bins + 8)
    cosines = AlignedFloats(count: bins + 8)
    sines = AlignedFloats(count: bins + 8)
    for k in 0..<bins {
      let turn = 2 * .pi * Double(k) * binWidth * settings.phaseDelay
      let phase = settings.phaseSwing * Double(sine(turn))
      cosines.pointer[k] = sine(phase + .pi / 2)
      sines.pointer[k] = sine(phase)
    }
    reset()
  }

  func reset() {
    running.clear()
    level.clear()
    // The floor is unknown at the start.
    for k in 0..<level.count { level.pointer[k] = Self.unknown }
  }

  private static let unknown: Float = 1000

  /// Splits `left` and `right` into `centre`, `surroundLeft` and `surroundRight`.
  ///
  /// - Parameter scale: converts the squared magnitude of a bin to the power of the sound.
  func process(scale: Float) {
    accumulate(scale: scale)
    estimateAmbience()
    limitByFloor()
    weigh(scale: scale)
  }

  private func accumulate(scale: Float) {
    let (lr, li, rr, ri) = (left.re.pointer, left.im.pointer, right.re.pointer, right.im.pointer)
    let planes = (plane(0), plane(1), plane(2), plane(3))
    let gain = newest
    for k in stride(from: 0, to: bins, by: 8) {
      let (a, b, c, d) = (load(lr + k), load(li + k), load(rr + k), load(ri + k))
      follow(planes.0 + k, (a * a + b * b) * scale, gain)
      follow(planes.1 + k, (c * c + d * d) * scale, gain)
      follow(planes.2 + k, (a * c + b * d) * scale, gain)
      follow(planes.3 + k, (b * c - a * d) * scale, gain)
    }
    for index in 0..<4 {
      // Beyond both ends, the spectrum continues as its mirror image.
      let values = plane(index)
      values[-1] = values[1]
      values[bins] = values[bins - 2]
    }
  }

  @inline(__always)
  private func plane(_ index: Int) -> UnsafeMutablePointer<Float> {
    running.pointer + index * planeStride + 16
  }

  @inline(__always)
  private func follow(_ state: UnsafeMutablePointer<Float>, _ value: Lanes, _ gain: Float) {
    let old = load(state)
    store(old + (value - old) * gain, state)
  }

  /// Returns the covariance of the eight bins from `k`, averaged over neighbouring bins, without
  /// chance coherence: the powers of left and right, and the real part (`re`) and the squared
  /// magnitude (`squared`) of the cross spectrum.
  @inline(__always)
  private func covariance(_ k: Int) -> (ll: Lanes, rr: Lanes, re: Lanes, squared: Lanes) {
    let ll = blurred(0, k) + Self.silence
    let rr = blurred(1, k) + Self.silence
    let (re, im) = (blurred(2, k), blurred(3, k))
    let found = re * re + im * im
    let most = ll * rr
    let free = (found - most * bias) / (1 - min(bias, 0.9))
    let squared = least(greatest(free, .zero), most)
    let less = (squared / (found + 1e-36)).squareRoot()
    return (ll, rr, re * less, squared)
  }

  @inline(__always)
  private func blurred(_ plane: Int, _ k: Int) -> Lanes {
    let at = self.plane(plane) + k
    return load(at) * 0.5 + (load(at - 1) + load(at + 1)) * 0.25
  }

  /// Stores the smaller eigenvalue as the ambience. Smooths its logarithm over time, except during
  /// silence.
  private func estimateAmbience() {
    let (power, smooth) = (ambience.pointer, level.pointer)
    for k in stride(from: 0, to: bins, by: 8) {
      let (ll, rr, _, squared) = covariance(k)
      let difference = ll - rr
      let root = (difference * difference + squared * 4).squareRoot()
      let smaller = greatest((ll + rr - root) * 0.5, .zero)
      store(smaller, power + k)
      let now = fastLog2(smaller + Self.silence)
      let old = load(smooth + k)
      let known = select(old .>= Self.unknown, now, old)
      let next = known + (now - known) * newestFloor
      // Digital silence does not predict the next sound, so the floor keeps its value.
      store(select(ll + rr .<= 3 * Self.silence, old, next), smooth + k)
    }
  }

  /// Limits the ambience to `floorFactor` times the floor. The logarithm of the floor is the
  /// smoothed logarithm of the ambience, averaged over neighbouring bins. Two running means, one
  /// after the other, give the average triangular weights.
  private func limitByFloor() {
    let wide = sums.pointer + 2 * reach
    let length = 2 * reach + 1
    for k in 0..<bins { wide[k] = level.pointer[k] }
    runningMean(from: wide, into: floor.pointer, length)
    for k in 0..<bins { wide[k] = floor.pointer[k] }
    runningMean(from: wide, into: floor.pointer, length)
    let power = ambience.pointer
    for k in stride(from: 0, to: bins, by: 8) {
      let limit = fastExp2(load(floor.pointer + k)) * settings.floorFactor
      store(least(load(power + k), limit), power + k)
    }
  }

  private func runningMean(
    from values: UnsafeMutablePointer<Float>, into means: UnsafeMutablePointer<Float>,
    _ length: Int
  ) {
    for i in 1...max(1, reach) {
      values[-i] = values[min(i, bins - 1)]
      values[bins - 1 + i] = values[max(0, bins - 1 - i)]
    }
    var sum = 0.0
    for k in -reach..<reach { sum += Double(values[k]) }
    let share = 1 / Double(length)
    for k in 0..<bins {
      sum += Double(values[k + reach])
      means[k] = Float(sum * share)
      sum -= Double(values[k - reach])
    }
  }

  private func weigh(scale: Float) {
    let s = settings
    let half: Float = 0.707_106_77
    let surroundGain = s.ambienceAmount / half
    let (dominance, share) = (s.centreDominance, s.ambienceShare)
    let steepness = 1 / (s.centreWidth * (1 - s.centrePlateau))
    let dominanceScale = 1 / (dominance.upperBound - dominance.lowerBound)
    let shareScale = 1 / (share.upperBound - share.lowerBound)
    for k in stride(from: 0, to: bins, by: 8) {
      let (ll, rr, re, squared) = covariance(k)
      let difference = ll - rr
      let (total, most) = (ll + rr, ll * rr)
      let root = (difference * difference + squared * 4).squareRoot()
      // Describe the strongest direction by its dominance, its distance from the centre, and the
      // degree to which left and right are in phase.
      let dominant = root / total
      let imbalance = magnitude(difference) / (root + 1e-30)
      let inPhase = greatest(re, .zero) / (squared.squareRoot() + 1e-30)
      let belongs =
        unit((s.centreWidth - imbalance) * steepness) * unit(inPhase)
        * unit((dominant - dominance.lowerBound) * dominanceScale)
      // Apply the make-up gain twice. The second one fades out as the dominance rises from 39/40
      // to 1.
      let company = unit((1 - dominant) * 40)
      let mask = unit(belongs.squareRoot() * s.centreMakeUp) * (1 + company * (s.centreMakeUp - 1))

      let (a, b) = (load(left.re.pointer + k), load(left.im.pointer + k))
      let (c, d) = (load(right.re.pointer + k), load(right.im.pointer + k))
      store((a + c) * mask * half, centre.re.pointer + k)
      store((b + d) * mask * half, centre.im.pointer + k)

      let power = load(ambience.pointer + k)
      let momentL = (a * a + b * b) * (scale * s.transientWeight)
      let momentR = (c * c + d * d) * (scale * s.transientWeight)
      let shareL = power / greatest(momentL, ll)
      let shareR = power / greatest(momentR, rr)
      let weighed = (1 - s.ambienceProjection) * surroundGain
      let gainL = unit((shareL - share.lowerBound) * shareScale) * weighed
      let gainR = unit((shareR - share.lowerBound) * shareScale) * weighed
      let determinant = most - re * re
      let projection =
        power * (s.ambienceProjection * surroundGain)
        / (greatest(determinant, .zero) + total * total * 5e-4)
      let (ownL, ownR) = (gainL + rr * projection, gainR + ll * projection)
      let other = re * projection
      let (ul, vl) = (a * ownL - c * other, b * ownL - d * other)
      let (ur, ui) = (c * ownR - a * other, d * ownR - b * other)
      let (co, si) = (load(cosines.pointer + k), load(sines.pointer + k))
      store(ul * co - vl * si, surroundLeft.re.pointer + k)
      store(vl * co + ul * si, surroundLeft.im.pointer + k)
      store(ur * co + ui * si, surroundRight.re.pointer + k)
      store(ui * co - ur * si, surroundRight.im.pointer + k)
    }
  }

  @inline(__always)
  private func unit(_ x: Lanes) -> Lanes {
    least(greatest(x, .zero), Lanes(repeating: 1))
  }
}
