// SPDX-License-Identifier: Apache-2.0

/// The numbers of `RenditionChoice`. Ratios are of throughput to a rendition's bit rate.
public struct RenditionChoiceParameters: Sendable, Equatable {
  /// s. Half-lives of the two means of throughput; the lower of both counts.
  public var fastHalfLife = 3.0
  public var slowHalfLife = 12.0

  /// s that should be buffered when the next segment has come.
  public var reserve = 2.0
  /// A multichannel segment is tried while it seems to need less than this many times the buffer;
  /// the download is watched, so that a wrong guess costs little.
  public var trial = 1.5
  /// Of the time of a segment: a rendition above the cheapest of its treatment may take this share
  /// at an empty buffer, and up to `greatestShare` at 30 s.
  public var leastShare = 1.0 / 3
  public var greatestShare = 2.0 / 3
  /// A rendition above the one that plays needs this much more.
  public var raising = 1.2
  /// s for which no dearer multichannel rendition is taken after one had to be left.
  public var raisingHold = 30.0

  /// A download is given up for a lower rendition when the buffer falls to what that rendition
  /// needs: this many s at least, and this many segments at most. Where it needs more it would come
  /// too late anyway, and the download is given up at `hopelessRescue` segments.
  public var leastRescue = 1.5
  public var earliestRescue = 0.75
  public var hopelessRescue = 0.45

  /// Ratio at which a line counts as recovered.
  public var recovery = 1.3
  /// s for which it has to stay recovered; at `strongRecovery` and above, half of it.
  public var hold = 8.0
  public var strongRecovery = 4.0
  /// Segments in sequence that have to show it; one, where the hold has no room for so many. The
  /// replaced segment is one more.
  public var recoveredSamples = 2
  /// s of buffer, but never more than 1.75 segments.
  public var recoveryBuffer = 7.0
  /// s. After a return to multichannel that lasted less, the hold doubles up to `longestHold`.
  public var shortReturn = 30.0
  public var longestHold = 32.0
  /// Of a segment: how much of it may have been handed on when another rendition takes over.
  public var latestJoin = 0.7

  /// s after which playing begins with one segment; with two it begins at once.
  public var startPatience = 2.5
  /// Ratio at which multichannel is played from the beginning.
  public var startRatio = 1.5

  public init() {}
}
