// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import SignalProcessing

/// What makes a pair of headphones sound like its target: filters in a row.
public struct HeadphoneProfile: Sendable, Equatable {
  /// Of the headphones, for people.
  public var name: String
  /// What they are brought to, for people; nil where nobody says.
  public var target: String?
  public var filters: [ParametricFilter]

  public init(name: String, target: String? = nil, filters: [ParametricFilter]) {
    self.name = name
    self.target = target
    self.filters = filters
  }

  /// Of the response's energy what may be missing at its end: -90 dB.
  static let residue = 1e-9
  /// Seconds: what rings longer is cut off.
  static let longest = 0.25

  /// The equaliser's impulse response, of minimum phase, its level in a diffuse field 0 dB.
  ///
  /// Filters at or above half the rate are left out. The level is that of `HRTFSet.normalized`:
  /// energy, linear in frequency over 200 Hz to 8 kHz, as the set's diffuse field weights it.
  ///
  /// - Parameters:
  ///   - sampleRate: Hz.
  ///   - field: the set's energy in the diffuse field.
  /// - Returns: taps, as many as it rings to -90 dB of its energy, at most 0.25 s.
  public func taps(sampleRate: Double, field: DiffuseField) -> [Float] {
    let sections = filters.compactMap { $0.biquad(sampleRate: sampleRate)?.minimumPhase }
    let power = field.mean { frequency in
      guard frequency < sampleRate / 2 else { return 1 }
      return sections.reduce(1) {
        $0 * $1.response(at: frequency, sampleRate: sampleRate).squaredMagnitude
      }
    }
    let response = impulseResponse(
      of: sections, residue: Self.residue, limit: Int(Self.longest * sampleRate))
    let gain = power > 0 ? 1 / power.squareRoot() : 1
    return response.map { Float($0 * gain) }
  }
}

/// The energy of an HRTF set in the diffuse field over frequency.
public struct DiffuseField: Sendable {
  /// Bins of a transform, 0 Hz first.
  let energies: [Double]
  /// Hz.
  let binWidth: Double

  /// The same at all frequencies.
  public static let flat = DiffuseField(
    energies: [Double](repeating: 1, count: 801), binWidth: 10)

  init(energies: [Double], binWidth: Double) {
    (self.energies, self.binWidth) = (energies, binWidth)
  }

  /// Of a set, both ears, its directions weighted by their areas as for its level.
  public init(_ set: HRTFSet) {
    var size = 512
    while size < 2 * set.taps { size *= 2 }
    let responses = DirectionalResponses(
      impulseResponses: set.impulseResponses, taps: set.taps, directions: set.directions,
      weights: set.areaWeights, sampleRate: set.sampleRate, size: size)
    energies = (0..<responses.bins).map { responses.diffuseEnergy(bin: $0) }
    binWidth = responses.binWidth
  }

  /// The mean of a power over the band in which levels are compared, weighted by this energy.
  func mean(of power: (_ frequency: Double) -> Double) -> Double {
    var (sum, total) = (0.0, 0.0)
    for (k, energy) in energies.enumerated() {
      let frequency = Double(k) * binWidth
      guard HRTFSet.levelBand.contains(frequency) else { continue }
      sum += energy * power(frequency)
      total += energy
    }
    return total > 0 ? sum / total : 1
  }
}
