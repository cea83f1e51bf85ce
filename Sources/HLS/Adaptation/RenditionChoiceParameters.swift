// SPDX-License-Identifier: Apache-2.0

/// The parameters of `RenditionChoice`. Throughput ratios are the throughput divided by a
/// rendition's bit rate.
public struct RenditionChoiceParameters: Sendable, Equatable {
  /// Half-lives of the two throughput averages, in s. The estimated throughput is at most the lower
  /// of the two averages.
  public var fastHalfLife = 3.0
  public var slowHalfLife = 12.0

  /// Buffer that should remain when the next segment has arrived, in s.
  public var reserve = 2.0
  /// A segment that may arrive late is tried in the cheapest multichannel rendition only if its
  /// expected download time is at most this multiple of the buffer. A download that is too slow is
  /// abandoned, so a wrong guess costs little.
  public var trial = 1.5
  /// Limits on the share of a segment's duration that the download of the segment may take. The
  /// limits apply to all multichannel renditions except the cheapest. Within these limits, the
  /// share is the buffer divided by 30 s.
  public var leastShare = 1.0 / 3
  public var greatestShare = 2.0 / 3
  /// Factor by which a change to a better multichannel rendition requires more throughput than
  /// staying in that rendition.
  public var raising = 1.2
  /// Time during which the rule does not change to a better multichannel rendition, in s. The rule
  /// may still return from stereo to the cheapest multichannel rendition. The time begins when a
  /// lower multichannel rendition is chosen or the download of a multichannel rendition is
  /// abandoned.
  public var raisingHold = 30.0

  /// Limits that determine at which buffer a slow download is abandoned for a lower rendition. The
  /// download is abandoned when the buffer falls to the time that the lower rendition needs (with a
  /// margin), or to `leastRescue` s if that is longer. If the time that the lower rendition needs
  /// exceeds `earliestRescue` segment durations, that rendition is expected to be late anyway. The
  /// download is then abandoned when the buffer falls to `hopelessRescue` segment durations, or to
  /// `leastRescue` s if that is longer.
  public var leastRescue = 1.5
  public var earliestRescue = 0.75
  public var hopelessRescue = 0.45

  /// Minimum throughput ratio that counts as recovered. The bit rate is that of the cheapest
  /// multichannel rendition, as for all throughput ratios below.
  public var recovery = 1.3
  /// Time for which the throughput must stay recovered, in s. The time decreases linearly with the
  /// throughput ratio, from this value at `recovery` to half of it at `strongRecovery` and above.
  public var hold = 8.0
  public var strongRecovery = 4.0
  /// Number of consecutive segments that must show the recovery. One segment suffices if that many
  /// do not fit in `hold`. The segment that is then fetched again as a test is not counted.
  public var recoveredSamples = 2
  /// Buffer that a return to multichannel requires, in s. At most 1.75 segment durations are
  /// required.
  public var recoveryBuffer = 7.0
  /// Limits for the doubling of the hold, in s. If multichannel lasts for less than `shortReturn`
  /// after a return, the hold is doubled, up to `longestHold`. Otherwise the hold is reset.
  public var shortReturn = 30.0
  public var longestHold = 32.0
  /// Maximum fraction of a segment that may have been read when its replacement arrives.
  public var latestJoin = 0.7

  /// Time since the beginning of fetching (`PlaySituation.elapsed`) after which playback starts
  /// even with a single segment, in s. With more than 1.5 segment durations in the buffer, playback
  /// starts at once.
  public var startPatience = 2.5
  /// Throughput ratio required to start in multichannel.
  public var startRatio = 1.5

  public init() {}
}
