// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry

/// The channel index of a loudspeaker (`input`), and the unit vector to its position on the stage
/// (`direction`).
public struct PlacedSpeaker: Sendable, Equatable {
  public var input: Int
  public var direction: SIMD3<Double>

  public init(input: Int, direction: SIMD3<Double>) {
    self.input = input
    self.direction = direction
  }
}

/// The gains from the channels of a source to the soundfield and to the ears.
///
/// Each matrix has one row per output and one column per input. The soundfield is in ACN order and
/// SN3D scale.
public struct Treatment: Sendable, Equatable {
  /// The order of the soundfield.
  public var order: Int
  /// The gains to the soundfield, (order + 1)^2 x inputs.
  public var field: [[Double]]
  /// The gains of head-locked sound to the ears, 2 x inputs.
  public var headLocked: [[Double]]
  /// The gains of low-frequency effects to the ears, 2 x inputs.
  public var lowFrequency: [[Double]]
  /// The loudspeakers encoded in `field`; empty if there are none.
  public var speakers: [PlacedSpeaker] = []

  public var inputs: Int { field.first?.count ?? 0 }

  /// The linear gain of low-frequency effects relative to a main channel: +10 dB (ITU-R BS.775-4,
  /// annex 7).
  public static let lowFrequencyGain = 3.1622776601683795
  /// The corner frequency of the low-pass filter for low-frequency effects, in Hz.
  public static let lowFrequencyCorner = 120.0

  /// Creates a treatment that keeps the spatial layout of a source.
  ///
  /// Soundfields are converted to ACN order and SN3D scale. Loudspeakers are encoded at their
  /// positions. Head-locked stereo and low-frequency effects go directly to the ears.
  ///
  /// - Parameters:
  ///   - layout: the layout of the source; all gains for `.unknown` are 0.
  ///   - busOrder: the order at which loudspeakers are encoded, 1 to 7. A soundfield keeps its own
  ///     order, but order 0 becomes 1.
  public init(spatial layout: ChannelLayout, busOrder: Int) {
    let count = layout.channelCount
    switch layout {
    case .ambisonics(let sourceOrder, let convention, let hasHeadLocked):
      self.init(order: max(1, sourceOrder), inputs: count)
      for (input, target) in convention.conversion(order: sourceOrder).enumerated() {
        field[target.channel][input] = target.gain
      }
      if hasHeadLocked {
        headLocked[0][count - 2] = 1
        headLocked[1][count - 1] = 1
      }
    case .speakers(let speakers):
      self.init(order: busOrder, inputs: count)
      for (input, speaker) in speakers.enumerated() {
        guard let direction = speaker.direction(in: speakers) else {
          lowFrequency[0][input] = Self.lowFrequencyGain
          lowFrequency[1][input] = Self.lowFrequencyGain
          continue
        }
        self.speakers.append(PlacedSpeaker(input: input, direction: direction.unitVector))
        let gains = SphericalHarmonics.evaluate(order: order, direction.unitVector)
        for (channel, gain) in gains.enumerated() { field[channel][input] = gain }
      }
    case .unknown:
      self.init(order: 1, inputs: count)
    }
  }

  /// Creates a treatment that folds a source down to plain stereo.
  ///
  /// Loudspeakers are mixed according to ITU-R BS.775-4, annex 4: the front pair at 1, the centre
  /// and the surrounds at 0.7071, low-frequency effects left out. Other loudspeakers have a gain of
  /// 0.7071 on their side or, in the median plane, of 0.5 on both sides. Mono has a gain of 1 on
  /// both sides. A soundfield is decoded to two cardioids, 0.7071 (W + Y) and 0.7071 (W - Y), and
  /// head-locked stereo is added at gain 1. All gains for `.unknown` are 0.
  public init(plain layout: ChannelLayout) {
    self.init(order: 1, inputs: layout.channelCount)
    switch layout {
    case .ambisonics(let sourceOrder, let convention, let hasHeadLocked):
      for (input, target) in convention.conversion(order: sourceOrder).enumerated() {
        guard target.channel < 2 else { continue }
        let side = target.channel == 1 ? -1.0 : 1.0
        headLocked[0][input] = 0.5.squareRoot() * target.gain
        headLocked[1][input] = 0.5.squareRoot() * target.gain * side
      }
      if hasHeadLocked {
        headLocked[0][inputs - 2] = 1
        headLocked[1][inputs - 1] = 1
      }
    case .speakers(let speakers):
      for (input, speaker) in speakers.enumerated() {
        let (left, right) = Self.foldDown(speaker, in: speakers)
        headLocked[0][input] = left
        headLocked[1][input] = right
      }
    case .unknown: break
    }
  }

  private init(order: Int, inputs: Int) {
    let none = [Double](repeating: 0, count: inputs)
    self.order = order
    field = Array(repeating: none, count: SphericalHarmonics.channelCount(order: order))
    headLocked = [none, none]
    lowFrequency = [none, none]
  }

  private static func foldDown(_ speaker: Speaker, in layout: [Speaker]) -> (Double, Double) {
    guard let direction = speaker.direction(in: layout) else { return (0, 0) }
    if layout == [.frontCenter] { return (1, 1) }
    let half = 0.5.squareRoot()
    let side = direction.unitVector.y
    if abs(side) < 1e-9 {
      return speaker == .frontCenter ? (half, half) : (0.5, 0.5)
    }
    let gain = speaker == .frontLeft || speaker == .frontRight ? 1 : half
    return side > 0 ? (gain, 0) : (0, gain)
  }
}
