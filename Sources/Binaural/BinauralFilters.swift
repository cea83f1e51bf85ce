// SPDX-License-Identifier: Apache-2.0

/// The filters that convert a soundfield or a bed to two ear signals or, after `crossed(by:)`, to
/// the signals of two loudspeakers.
public struct BinauralFilters: Sendable {
  /// The ambisonic order of the soundfield (ACN channel order, SN3D scale); 0 for direct filters.
  public let order: Int
  /// The sample rate, in Hz.
  public let sampleRate: Double
  /// The filters for the left ear or loudspeaker: (order + 1)^2 channels x taps; empty for direct
  /// filters.
  public let left: [[Float]]
  /// The filters for the right ear or loudspeaker: (order + 1)^2 channels x taps; empty for direct
  /// filters.
  public let right: [[Float]]
  /// The filters that render loudspeakers through the responses for their own directions; nil for
  /// filters that decode a soundfield.
  public let direct: DirectionalBank?
  /// The responses to plane waves, for `ParametricDecoder`; nil for the other decoders.
  public var planeWaves: PlaneWaveResponses?
  /// The impulse response of the headphone equaliser; nil if there is none.
  ///
  /// The filters include the equaliser unless `planeWaves` is set. Signal paths that bypass the
  /// filters must apply the equaliser; if `planeWaves` is set, all signal paths must apply the
  /// equaliser.
  public internal(set) var equaliser: [Float]?

  /// The delay of the ear signals relative to the impulse responses of the set, in s. Direct
  /// filters do not include this delay; `DirectionalMixer` adds it.
  ///
  /// Filters designed by magnitude least squares ring before their main peak and need this time.
  public static let delaySeconds = 0.001

  public var taps: Int { direct?.taps ?? left.first?.count ?? 0 }

  public init(order: Int, sampleRate: Double, left: [[Float]], right: [[Float]]) {
    self.order = order
    self.sampleRate = sampleRate
    self.left = left
    self.right = right
    direct = nil
  }

  /// Creates direct filters, which render loudspeakers only.
  ///
  /// - Parameter sampleRate: the playback rate, in Hz.
  public init(direct: DirectionalBank, sampleRate: Double) {
    order = 0
    self.sampleRate = sampleRate
    (left, right) = ([], [])
    self.direct = direct
  }
}
