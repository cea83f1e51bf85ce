// SPDX-License-Identifier: Apache-2.0

/// The parameters that decide what `Upmixer` sends to the centre and to the surrounds.
///
/// The default values were tuned on three dissimilar mixes together; see docs/upmix.md.
public struct UpmixSettings: Sendable, Equatable {
  /// Length of the analysis window, which is also the total latency of the upmix, in seconds.
  /// Default: 42.6 ms; 21.3 ms for `lowLatency`.
  public var windowSeconds = 0.0426
  /// Time constant of the covariance of the channels, in seconds.
  public var covarianceSeconds = 0.03
  /// Time constant of the ambience floor, which limits the ambience, in seconds.
  public var floorSeconds = 0.1
  /// Half the width of the triangular average over frequency that gives the ambience floor, in Hz.
  public var floorWidth = 280.0
  /// Upper limit on the ambience, as a multiple of the power of the ambience floor.
  public var floorFactor: Float = 1.1
  /// Imbalance at and above which nothing goes to the centre. The imbalance of a source is 0 in the
  /// centre and 1 on one side.
  public var centreWidth: Float = 0.5
  /// Share of `centreWidth` up to which the imbalance does not reduce the centre.
  public var centrePlateau: Float = 1.0 / 3
  /// Range of dominance over which the extraction of the centre fades in. The extraction begins at
  /// the lower bound and is complete at the upper bound. The dominance of the strongest direction
  /// is 0 for diffuse sound and 1 for a single source.
  public var centreDominance: ClosedRange<Float> = 0.4...0.85
  /// Gain of the centre if other sounds overlap it. This gain compensates for the part of the
  /// centre that the overlap removes.
  public var centreMakeUp: Float = 1.05
  /// Range of a channel's share of ambience over which the extraction of the surrounds fades in.
  /// The extraction begins at the lower bound and is complete at the upper bound.
  public var ambienceShare: ClosedRange<Float> = 0.2...0.45
  /// Amplitude that moves from a purely ambient channel to the surround, as a multiple of the
  /// amplitude of the channel. At about 2/3, front and surround together have the energy of the
  /// channel; above that, they have more.
  public var ambienceAmount: Float = 1.12
  /// Weight of the estimate that projects the strongest direction out of the surrounds. The
  /// estimate that only scales the channels has the remaining weight.
  public var ambienceProjection: Float = 0.25
  /// Peak of the surrounds' phase shift, in radians. The shift varies sinusoidally along the
  /// frequency axis, with a period of 1 / `phaseDelay` Hz, and has opposite signs on the two sides.
  public var phaseSwing = 0.4
  /// Inverse of the period of the phase shift along the frequency axis, in seconds.
  public var phaseDelay = 0.88e-3
  /// Weight of the power of the current analysis frame. If the weighted power exceeds the smoothed
  /// power, the share of ambience in this frame is lower.
  public var transientWeight: Float = 0.5
  /// Factor on the squared coherence that unrelated channels are expected to show by chance. The
  /// product is subtracted from the measured squared coherence.
  public var biasCorrection = 1.3

  public init() {}

  /// Settings with half the latency (21.3 ms) and coarser frequency resolution.
  public static var lowLatency: UpmixSettings {
    var settings = UpmixSettings()
    settings.windowSeconds = 0.0213
    return settings
  }
}
