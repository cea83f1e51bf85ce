// SPDX-License-Identifier: Apache-2.0

/// The parameters that decide what `Upmixer` sends to the centre and to the surrounds.
///
/// The values were tuned on three dissimilar mixes at once; see docs/upmix.md.
public struct UpmixSettings: Sendable, Equatable {
  /// Length of the analysis window and latency of the upmix, in seconds. Default: 42.6 ms; 21.3 ms
  /// for `lowLatency`.
  public var windowSeconds = 0.0426
  /// Time constant of the covariance of the channels, in seconds.
  public var covarianceSeconds = 0.03
  /// Time constant of the ambience floor, in seconds.
  public var floorSeconds = 0.1
  /// Half the width of the frequency average that gives the floor, in Hz.
  public var floorWidth = 280.0
  /// Upper limit of the ambience, as a factor of the floor's power.
  public var floorFactor: Float = 1.1
  /// Imbalance, 0 (centre) to 1 (one side), from which nothing goes to the centre.
  public var centreWidth: Float = 0.5
  /// Share of `centreWidth` within which everything goes to the centre.
  public var centrePlateau: Float = 1.0 / 3
  /// Dominance of the strongest direction, 0 (diffuse) to 1: extraction of the centre begins at the
  /// lower bound and is complete at the upper.
  public var centreDominance: ClosedRange<Float> = 0.4...0.85
  /// Gain of the centre when other sounds overlap it; makes up for the part that is lost there.
  public var centreMakeUp: Float = 1.05
  /// Share of ambience in a channel: extraction of the surrounds begins at the lower bound and is
  /// complete at the upper.
  public var ambienceShare: ClosedRange<Float> = 0.2...0.45
  /// Share of a purely ambient channel's amplitude that moves to the surround. At 2/3 the energy of
  /// front and surround together equals that of the channel; above that it is higher.
  public var ambienceAmount: Float = 1.12
  /// Weight of the estimate that projects the strongest direction out of the surrounds. The rest is
  /// the weight of the estimate that only scales the channels.
  public var ambienceProjection: Float = 0.25
  /// Peak of the surrounds' phase shift, in radians. The shift varies sinusoidally along the
  /// frequency axis, with a period of 1 / `phaseDelay` Hz, and has opposite signs on the two sides.
  public var phaseSwing = 0.4
  /// Inverse of the phase shift's period along the frequency axis, in seconds.
  public var phaseDelay = 0.88e-3
  /// Weight of a frame's own power. Above the smoothed power, it lowers the frame's share of
  /// ambience.
  public var transientWeight: Float = 0.5
  /// Factor on the expected coherence of unrelated channels, which is subtracted from the
  /// covariance.
  public var biasCorrection = 1.3

  public init() {}

  /// Settings with half the latency (21.3 ms) and a coarser split.
  public static var lowLatency: UpmixSettings {
    var settings = UpmixSettings()
    settings.windowSeconds = 0.0213
    return settings
  }
}
