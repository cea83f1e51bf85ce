// SPDX-License-Identifier: Apache-2.0

/// The filters that convert a soundfield around the head to two ear signals.
public struct BinauralFilters: Sendable {
  /// The ambisonic order; the filters take ACN channels in SN3D scale. 0 for direct filters.
  public let order: Int
  /// The sample rate, in Hz.
  public let sampleRate: Double
  /// The left ear's filters: (order + 1)^2 channels x taps; empty for direct filters.
  public let left: [[Float]]
  /// The right ear's filters: (order + 1)^2 channels x taps; empty for direct filters.
  public let right: [[Float]]
  /// The filters for loudspeakers that are rendered through the responses of their own directions.
  ///
  /// If it is not nil, `left` and `right` are empty and soundfields cannot be decoded.
  public let direct: DirectionalBank?
  /// The responses to plane waves, for first-order soundfields that `ParametricDecoder` decodes;
  /// nil otherwise.
  public var planeWaves: PlaneWaveResponses?
  /// The impulse response of the headphone equaliser; nil if there is none.
  ///
  /// The filters already include it (unless `planeWaves` is set), but paths that bypass them do
  /// not.
  public internal(set) var equaliser: [Float]?

  /// The delay of every filter relative to the HRIRs, in seconds: the same for every set, order and
  /// design.
  ///
  /// MagLS filters ring before their main peak and need this time.
  public static let delaySeconds = 0.001

  public var taps: Int { direct?.taps ?? left.first?.count ?? 0 }

  public init(order: Int, sampleRate: Double, left: [[Float]], right: [[Float]]) {
    self.order = order
    self.sampleRate = sampleRate
    self.left = left
    self.right = right
    direct = nil
  }

  /// Creates filters for loudspeakers only.
  ///
  /// - Parameters:
  ///   - direct: the responses of all directions.
  ///   - sampleRate: the playback rate, in Hz.
  public init(direct: DirectionalBank, sampleRate: Double) {
    order = 0
    self.sampleRate = sampleRate
    (left, right) = ([], [])
    self.direct = direct
  }
}
