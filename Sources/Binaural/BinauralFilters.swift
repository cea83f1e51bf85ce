// SPDX-License-Identifier: Apache-2.0

/// The finished filters that turn a soundfield around the head into two ear signals.
public struct BinauralFilters: Sendable {
  /// Ambisonic order; the filters take ACN channels in SN3D scale.
  public let order: Int
  /// Hz.
  public let sampleRate: Double
  /// (order + 1)^2 channels x taps.
  public let left: [[Float]]
  /// (order + 1)^2 channels x taps.
  public let right: [[Float]]
  /// Where loudspeakers are played through responses of their own directions: what with. The other
  /// filters are empty then, and there are none for soundfields.
  public let direct: DirectionalBank?
  /// Where a first-order soundfield is to be decoded by `ParametricDecoder`: the responses to its
  /// plane waves.
  public var planeWaves: PlaneWaveResponses?
  /// The equaliser of the headphones, taps: folded into the filters already, but not into what is
  /// heard past them. Nil for none.
  public internal(set) var equaliser: [Float]?

  /// Seconds by which every filter is later than the HRIRs: the same for every set, order and
  /// design.
  ///
  /// MagLS rings ahead of its main peak and needs that room.
  public static let delaySeconds = 0.001

  public var taps: Int { direct?.taps ?? left.first?.count ?? 0 }

  public init(order: Int, sampleRate: Double, left: [[Float]], right: [[Float]]) {
    self.order = order
    self.sampleRate = sampleRate
    self.left = left
    self.right = right
    direct = nil
  }

  /// - Parameters:
  ///   - direct: for loudspeakers.
  ///   - sampleRate: of playing, Hz.
  public init(direct: DirectionalBank, sampleRate: Double) {
    order = 0
    self.sampleRate = sampleRate
    (left, right) = ([], [])
    self.direct = direct
  }
}
