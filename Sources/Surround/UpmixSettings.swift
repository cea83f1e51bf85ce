// SPDX-License-Identifier: Apache-2.0

/// The parameters of `Upmixer`.
public struct UpmixSettings: Sendable, Equatable {
  /// The length of an analysis frame in seconds. This is also the latency of the upmix, including
  /// the time to collect the input of one call.
  public var windowSeconds = 0.0426
  /// The time constant of the covariance of the channels, in seconds.
  public var covarianceSeconds = 0.03
  /// The time constant of the ambience floor, in seconds.
  public var floorSeconds = 0.1
  /// Half the width of the triangular average over frequency for the ambience floor, in Hz.
  public var floorWidth = 280.0
  /// The largest power of the ambience, as a multiple of the ambience floor.
  public var floorFactor: Float = 1.1
  /// The imbalance at and above which nothing goes to the centre. The imbalance is 0 for a source
  /// in the centre and 1 for a source in only one channel.
  public var centreWidth: Float = 0.5
  /// The fraction of `centreWidth` up to which the imbalance does not reduce the centre.
  public var centrePlateau: Float = 1.0 / 3
  /// The range of dominance over which the extraction of the centre fades in. The dominance of the
  /// strongest direction is 0 for diffuse sound and 1 for a single source.
  public var centreDominance: ClosedRange<Float> = 0.4...0.85
  /// The make-up gain of the centre's mask. The mask is limited to 1 after this gain. Where other
  /// sounds overlap the centre, the gain then applies a second time.
  public var centreMakeUp: Float = 1.05
  /// The range of a channel's share of ambience over which the channel fades into the surrounds.
  /// This applies to the estimate that scales the channels; see `ambienceProjection`.
  public var ambienceShare: ClosedRange<Float> = 0.2...0.45
  /// The amplitude that is subtracted from a purely ambient front channel, relative to that
  /// channel. The surround has 1.41 times this amplitude. Above about 2/3, front and surround
  /// together have more energy than the channel.
  public var ambienceAmount: Float = 1.12
  /// The weight of the estimate that projects the strongest direction out of the surrounds. The
  /// estimate that scales the channels has the remaining weight.
  public var ambienceProjection: Float = 0.25
  /// The peak of the surrounds' phase shift, in radians. The shift is a sine function of frequency
  /// with a period of 1 / `phaseDelay`. Its signs on the two sides are opposite.
  public var phaseSwing = 0.4
  /// The inverse of the period of the phase shift, in seconds.
  public var phaseDelay = 0.88e-3
  /// The weight of the power of the current analysis frame. If the weighted power exceeds the
  /// smoothed power, this frame has a lower share of ambience.
  public var transientWeight: Float = 0.5
  /// The factor by which the expected squared coherence of unrelated channels is multiplied before
  /// it is subtracted from the measured one.
  public var biasCorrection = 1.3

  public init() {}

  /// Settings with half the latency and a coarser frequency resolution.
  public static var lowLatency: UpmixSettings {
    var settings = UpmixSettings()
    settings.windowSeconds = 0.0213
    return settings
  }
}
