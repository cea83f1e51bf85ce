// SPDX-License-Identifier: Apache-2.0

/// How `Upmixer` tells what comes from the centre and what from all around.
///
/// The values were chosen on three unlike mixes at once; see docs/upmix.md.
public struct UpmixSettings: Sendable, Equatable {
  /// Length of the analysis window, seconds; the upmix is as late. Default: 42.6 ms, above 21 ms
  /// for `lowLatency`.
  public var windowSeconds = 0.0426
  /// Time constant of the channels' covariance, seconds.
  public var covarianceSeconds = 0.03
  /// Time constant of the floor under the ambience, seconds.
  public var floorSeconds = 0.1
  /// Half the width over which the floor is taken, Hz.
  public var floorWidth = 280.0
  /// How far above the floor ambience may be, as a factor of its power.
  public var floorFactor: Float = 1.1
  /// Imbalance, 0 (centre) to 1 (one side), from which nothing belongs to the centre.
  public var centreWidth: Float = 0.5
  /// Share of `centreWidth` within which all belongs to the centre.
  public var centrePlateau: Float = 1.0 / 3
  /// Dominance of the strongest direction, 0 (diffuse) to 1, from which the centre begins to be
  /// taken, and from which it is taken wholly.
  public var centreDominance: ClosedRange<Float> = 0.4...0.85
  /// The centre is taken a little too loud where something else sounds too, for what is lost there.
  public var centreMakeUp: Float = 1.05
  /// Share of ambience in a channel from which the surrounds begin to be taken, and from which they
  /// are taken wholly.
  public var ambienceShare: ClosedRange<Float> = 0.2...0.45
  /// Part of a channel's amplitude that goes to the surround where it is nothing but ambience. At
  /// 2/3 the energy of front and surround together is the channel's own, beyond it is more.
  public var ambienceAmount: Float = 1.12
  /// Weight of the estimate that takes the strongest direction out of the surrounds, beside the one
  /// that only weighs the channels.
  public var ambienceProjection: Float = 0.25
  /// The surrounds' phases swing about zero along the frequency axis, against each other: by so
  /// much, radians, and once in 1 / `phaseDelay` Hz.
  public var phaseSwing = 0.4
  /// Seconds.
  public var phaseDelay = 0.88e-3
  /// How much of a power beyond the mean counts as no ambience.
  public var transientWeight: Float = 0.5
  /// Part of the covariance's chance coherence that is taken off.
  public var biasCorrection = 1.3

  public init() {}

  /// With half the latency, at most 21.4 ms, and a coarser split.
  public static var lowLatency: UpmixSettings {
    var settings = UpmixSettings()
    settings.windowSeconds = 0.0213
    return settings
  }
}
