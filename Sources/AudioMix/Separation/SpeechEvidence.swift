// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Judges whether each source is speech and whether the field contains speech.
///
/// The modulation of a source is the RMS value of the difference between a fast and a slow mean of
/// its level in dB, averaged over four bands. Steady noise has little modulation. The tonality is
/// the correlation of the spectrum's fine structure with the fine structure 16 analysis frames
/// earlier. It is higher for music than for speech.
struct SpeechEvidence: ~Copyable {
  private struct Source {
    var identity = 0
    var fast = SIMD4<Float>.zero
    var slow = SIMD4<Float>.zero
    var variance = SIMD4<Float>.zero
    /// The sum of the weights in the average `variance`, at most 1. It is lower while a source is
    /// new.
    var certainty: Float = 0
    var tonal: Float = 0
    var weight: Float = 0
    var spectra = 0
  }

  /// The slot of W. The sources have the slots 0 to 2.
  static let field = 3
  private static let slots = field + 1
  private static let lag = 16
  private static let edges: [Double] = [300, 700, 1300, 2400, 5000]
  private static let reach = 6

  private var sources = InlineArray<4, Source>(repeating: Source())
  private var place = 0
  private let edges: InlineArray<5, Int>
  private let tonalBins: Range<Int>
  /// The fine structures: `slots` x (`lag` + 1) analysis frames x `tonalBins` values.
  private let ring: AlignedFloats
  /// The smoothed logarithms of the spectra: `slots` x `tonalBins` values.
  private let logarithms: AlignedFloats
  private let sums: AlignedFloats
  private let settings: SeparationSettings
  private let newestFast, newestSlow, newestEvidence, newestLogarithm: Float

  init(binWidth: Double, bins: Int, hop: Double, settings: SeparationSettings) {
    self.settings = settings
    edges = InlineArray<5, Int> { min(bins, Int(Self.edges[$0] / binWidth) + 1) }
    tonalBins = min(bins - 1, Int(200 / binWidth) + 1)..<min(bins, Int(4000 / binWidth) + 1)
    ring = AlignedFloats(count: Self.slots * (Self.lag + 1) * tonalBins.count)
    logarithms = AlignedFloats(count: Self.slots * tonalBins.count)
    sums = AlignedFloats(count: tonalBins.count + 1)
    newestFast = newestWeight(hop, settings.fast)
    newestSlow = newestWeight(hop, settings.slow)
    newestEvidence = newestWeight(hop, settings.evidenceTime)
    newestLogarithm = newestWeight(hop, 0.02)
  }

  mutating func reset() {
    for k in 0..<Self.slots { sources[k] = Source() }
    place = 0
  }

  /// Begins the next analysis frame. Call this function before passing that frame's spectra to
  /// `fieldProbability` and `probability`.
  mutating func advance() { place = (place + 1) % (Self.lag + 1) }

  /// Takes the next power spectrum of W, and returns how likely W is to contain speech, 0 to 1.
  mutating func fieldProbability(powers: UnsafePointer<Float>) -> Float {
    probability(slot: Self.field, identity: 1, powers: powers, assumedModulation: 0)
  }

  /// Takes the next power spectrum of a source, and returns how likely the source is to be speech,
  /// 0 to 1.
  mutating func probability(
    slot: Int, identity: Int, powers: UnsafePointer<Float>
  ) -> Float {
    probability(
      slot: slot, identity: identity, powers: powers,
      assumedModulation: settings.assumedModulation)
  }

  private mutating func probability(
    slot: Int, identity: Int, powers: UnsafePointer<Float>, assumedModulation: Float
  ) -> Float {
    var levels = SIMD4<Float>.zero
    for band in 0..<4 {
      var sum: Float = 1e-9
      for k in edges[band]..<max(edges[band], edges[band + 1]) { sum += powers[k] }
      levels[band] = decibels(sum)
    }
    if sources[slot].identity != identity {
      sources[slot] = Source(identity: identity, fast: levels, slow: levels)
    }
    var source = sources[slot]
    source.fast += (levels - source.fast) * newestFast
    source.slow += (levels - source.slow) * newestSlow
    let change = source.fast - source.slow
    source.variance += (change * change - source.variance) * newestEvidence
    source.certainty += (1 - source.certainty) * newestEvidence
    let (correlation, strength) = tonality(&source, slot: slot, powers: powers)
    source.tonal += (strength * correlation - source.tonal) * newestEvidence
    source.weight += (strength - source.weight) * newestEvidence
    sources[slot] = source
    var modulation: Float = 0
    for band in 0..<4 {
      modulation += 0.25 * realtime_sqrtf(source.variance[band] / source.certainty)
    }
    let tonality = source.tonal / (source.weight + 1e-12)
    let found = modulation - settings.tonalityWeight * max(0, tonality - settings.freeTonality)
    let expected =
      source.certainty * found + (1 - source.certainty) * assumedModulation
    return ramp(expected, settings.speechModulation)
  }

  /// Returns the correlation of the fine structure with the fine structure `lag` analysis frames
  /// earlier, and the amplitude of the source in `tonalBins`. Both are 0 for the first `lag`
  /// spectra of a source.
  private mutating func tonality(
    _ source: inout Source, slot: Int, powers: UnsafePointer<Float>
  ) -> (correlation: Float, strength: Float) {
    let count = tonalBins.count
    let smooth = logarithms.pointer + slot * count
    let newest = source.spectra == 0 ? 1 : newestLogarithm
    var power: Float = 0
    sums.pointer[0] = 0
    for n in 0..<count {
      let value = powers[tonalBins.lowerBound + n]
      power += value
      smooth[n] += (fastLog2(value + 1e-12) - smooth[n]) * newest
      sums.pointer[n + 1] = sums.pointer[n] + smooth[n]
    }
    let now = ring.pointer + (slot * (Self.lag + 1) + place) * count
    let before = ring.pointer + (slot * (Self.lag + 1) + (place + 1) % (Self.lag + 1)) * count
    var (product, first, second): (Float, Float, Float) = (0, 0, 0)
    for n in 0..<count {
      let (low, high) = (max(0, n - Self.reach), min(count, n + Self.reach + 1))
      now[n] = smooth[n] - (sums.pointer[high] - sums.pointer[low]) / Float(high - low)
      product += now[n] * before[n]
      first += now[n] * now[n]
      second += before[n] * before[n]
    }
    source.spectra += 1
    guard source.spectra > Self.lag else { return (0, 0) }
    return (product / realtime_sqrtf(first * second + 1e-9), realtime_sqrtf(power))
  }
}
