// SPDX-License-Identifier: Apache-2.0

/// The parameters of `RenditionChoice`. Ratios are throughput divided by a rendition's bit rate.
public struct RenditionChoiceParameters: Sendable, Equatable {
  /// Half-lives of the two throughput averages, in s. The lower average counts.
  public var fastHalfLife = 3.0
  public var slowHalfLife = 12.0

  /// Buffer that should remain when the next segment has arrived, in s.
  public var reserve = 2.0
  /// A multichannel segment is tried if its expected download time is at most this many times the
  /// buffer. The download is watched, so that a wrong guess costs little.
  public var trial = 1.5
  /// Share of a segment's duration that its download may take, for multichannel renditions above
  /// the cheapest. The share is the buffer divided by 30 s, within these limits.
  public var leastShare = 1.0 / 3
  public var greatestShare = 2.0 / 3
  /// Extra throughput that a change to a better rendition requires, as a factor.
  public var raising = 1.2
  /// Time after leaving a multichannel rendition in which no better one is chosen, in s.
  public var raisingHold = 30.0

  /// A download is abandoned for a lower rendition when the buffer falls to what that rendition
  /// needs: at least `leastRescue` s, and at most `earliestRescue` segments. If it needs more, it
  /// would be late anyway, and the download is abandoned at `hopelessRescue` segments.
  public var leastRescue = 1.5
  public var earliestRescue = 0.75
  public var hopelessRescue = 0.45

  /// Throughput ratio that counts as recovered.
  public var recovery = 1.3
  /// Time for which the throughput must stay recovered, in s. It is halved at `strongRecovery` and
  /// above.
  public var hold = 8.0
  public var strongRecovery = 4.0
  /// Number of consecutive segments that must show the recovery, or one if they do not fit in
  /// `hold`. The replaced segment is an additional one.
  public var recoveredSamples = 2
  /// Buffer required for a return to multichannel, in s, but never more than 1.75 segments.
  public var recoveryBuffer = 7.0
  /// If a return to multichannel lasted less than this, in s, the hold is doubled, up to
  /// `longestHold`.
  public var shortReturn = 30.0
  public var longestHold = 32.0
  /// Fraction of a segment that may have been read already when another rendition joins.
  public var latestJoin = 0.7

  /// Time after which playback starts with one segment, in s. With two it starts at once.
  public var startPatience = 2.5
  /// Throughput ratio required to start in multichannel.
  public var startRatio = 1.5

  public init() {}
}
