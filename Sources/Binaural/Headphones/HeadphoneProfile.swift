// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import SignalProcessing

/// The filters, in series, that equalise headphones to a target response.
public struct HeadphoneProfile: Sendable, Equatable {
  /// The name of the headphones.
  public var name: String
  /// The name of the target response; nil if unknown.
  public var target: String?
  public var filters: [ParametricFilter]

  public init(name: String, target: String? = nil, filters: [ParametricFilter]) {
    self.name = name
    self.target = target
    self.filters = filters
  }

  /// The fraction of the response's energy that may be cut off at its end: -90 dB.
  static let residue = 1e-9
  /// The maximum length of the response, in s.
  static let longest = 0.25

  /// Returns the minimum-phase impulse response of the equaliser, with a diffuse-field level of 0
  /// dB.
  ///
  /// Leaves out filters whose frequency is at least 0.499 times the sample rate. The level is the
  /// mean power from 200 Hz to 8 kHz, weighted by `field`. The response ends when at most a
  /// billionth (-90 dB) of its energy remains, and after 0.25 s at the latest.
  ///
  /// - Parameters:
  ///   - sampleRate: the playback rate, in Hz.
  ///   - field: the energy of the HRTF set in the diffuse field; `DiffuseField.flat` if the design
  ///     of the decoder makes it flat.
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

/// An HRTF set's energy in the diffuse field as a function of frequency.
public struct DiffuseField: Sendable {
  /// The energy of each bin, from 0 Hz on.
  let energies: [Double]
  /// The width of a bin, in Hz.
  let binWidth: Double

  /// A field with the same energy at all frequencies up to 8 kHz.
  public static let flat = DiffuseField(
    energies: [Double](repeating: 1, count: 801), binWidth: 10)

  init(energies: [Double], binWidth: Double) {
    (self.energies, self.binWidth) = (energies, binWidth)
  }

  /// Computes the energy of a set, summed over both ears and over directions (weighted by
  /// `HRTFSet.areaWeights`).
  public init(_ set: HRTFSet) {
    var size = 512
    while size < 2 * set.taps { size *= 2 }
    let responses = DirectionalResponses(
      impulseResponses: set.impulseResponses, taps: set.taps, directions: set.directions,
      weights: set.areaWeights, sampleRate: set.sampleRate, size: size)
    energies = (0..<responses.bins).map { responses.diffuseEnergy(bin: $0) }
    binWidth = responses.binWidth
  }

  /// Returns the mean of `power` over the frequencies in `HRTFSet.levelBand`, weighted by
  /// `energies`; 1 if there is no energy in the band.
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
