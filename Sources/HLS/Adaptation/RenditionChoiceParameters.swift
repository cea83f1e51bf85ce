// SPDX-License-Identifier: Apache-2.0

/// The parameters of `RenditionChoice`. A throughput ratio is the throughput divided by a
/// rendition's bit rate.
public struct RenditionChoiceParameters: Sendable, Equatable {
  /// Half-lives of the two throughput averages, in s.
  public var fastHalfLife = 3.0
  public var slowHalfLife = 12.0

  /// Buffer that should remain when the next segment has arrived, in s.
  public var reserve = 2.0
  /// If a segment may arrive too late, the cheapest multichannel rendition is tried only if its
  /// expected download time is at most this multiple of the buffer.
  public var trial = 1.5
  /// A multichannel rendition other than the cheapest is chosen only if its bit rate is at most a
  /// certain share of the expected throughput. The share is the buffer divided by 30 s, limited to
  /// the range from `leastShare` to `greatestShare`.
  public var leastShare = 1.0 / 3
  public var greatestShare = 2.0 / 3
  /// Factor by which the required throughput is higher for a change to a better multichannel
  /// rendition.
  public var raising = 1.2
  /// Time for which no better multichannel rendition is chosen, in s. It begins when a lower
  /// multichannel rendition is chosen, or when a multichannel download is abandoned.
  public var raisingHold = 30.0

  /// During playback, a slow download is abandoned for a lower rendition when the buffer falls to a
  /// threshold. Normally, the threshold is `rescueMargin` plus 1.2 times the expected download time
  /// in the lower rendition. If this sum exceeds `earliestRescue` segment durations, the threshold
  /// is `hopelessRescue` segment durations. The threshold is at least `leastRescue` s.
  public var leastRescue = 1.5
  public var earliestRescue = 0.75
  public var hopelessRescue = 0.45
  /// Buffer that should remain when the segment has arrived in the lower rendition, in s.
  public var rescueMargin = 0.25

  /// Minimum throughput ratio that counts as recovered. Here and below, the bit rate is that of the
  /// cheapest multichannel rendition.
  public var recovery = 1.3
  /// Minimum throughput ratio that counts as recovered on a steady connection: 1.1, less 1 % for
  /// the accuracy of the measurement.
  public var steadyRecovery = 1.09
  /// A connection is steady if at least `steadySamples` segments arrived in a certain period, and
  /// the fastest of them was at most `steadySpread` times as fast as the slowest. The period ends
  /// with the newest arrival. It lasts `steadySeconds` s or `RenditionChoice.hold`, whichever is
  /// longer. The known downloads must cover it.
  public var steadySeconds = 12.0
  public var steadySamples = 4
  public var steadySpread = 1.1
  /// Initial value of `RenditionChoice.hold`, in s. At the throughput ratio `recovery`, the
  /// throughput must stay recovered for the duration of the hold. This time decreases linearly to
  /// half of the hold at `strongRecovery`.
  public var hold = 6.0
  public var strongRecovery = 4.0
  /// Number of consecutive segments that must show the recovery. One segment suffices if `hold` is
  /// shorter than this number of segments.
  public var recoveredSamples = 2
  /// Buffer that a return to multichannel requires: `recoveryBuffer` s or `recoverySegments`
  /// segment durations, whichever is shorter.
  public var recoveryBuffer = 7.0
  public var recoverySegments = 1.75
  /// If multichannel lasts for less than `shortReturn` s after a return, `RenditionChoice.hold` is
  /// doubled, up to `longestHold` s. Otherwise, it is reset to `hold`.
  public var shortReturn = 45.0
  public var longestHold = 32.0
  /// Maximum fraction of a segment that may have been read when its replacement is expected to
  /// arrive.
  public var latestJoin = 0.7

  /// Value of `PlaySituation.elapsed`, in s, from which any buffered sound suffices to start
  /// playback.
  public var startPatience = 2.5
  /// Throughput ratio required to start in multichannel.
  public var startRatio = 1.5

  public init() {}
}
