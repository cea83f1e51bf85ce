// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
internal import Media
internal import Rendering
private import Surround

extension HLSSource {
  /// s that are left of a segment where another rendition takes over.
  private static let leastLeft = 0.1
  /// s of a segment that are heard before stereo takes over, for which its upmix listens, and
  /// before multichannel does. The stereo's level is that of the time in which it is heard, on this
  /// side of the change or on that.
  private static let stereoSeconds = 1.25
  private static let multichannelSeconds = 3.0

  /// A rendition that takes over within a segment.
  private struct JoinTarget {
    var rendition: Int
    var supplied: SuppliedSegment
    var reason: String?
    /// As late as can be, since the next segment may still be fetched again.
    var isAtEnd: Bool
  }

  /// Prepares the change to another rendition within the segment that is read, where one is wanted.
  ///
  /// - Returns: the frame up to which may be read before it is looked at again.
  func planJoin() throws(PlaybackError) -> Int? {
    guard let run, run.end == nil, !run.isDraining, place.unjoinable != place.segment,
      let segment = feed.queue.segment(place.segment), segment.supplied.count > 1,
      let target = joinTarget(in: segment, from: run.reader.rendition)
    else { return nil }
    let isStereo = !feed.presentation.ladder[target.rendition].isMultichannel
    let settled = frames(isStereo ? Self.stereoSeconds : Self.multichannelSeconds)
    let latest = frames(segment.end) - longestOverlap - frames(Self.leastLeft)
    let wanted = max(
      place.position, target.isAtEnd ? latest : min(frames(segment.start) + settled, latest))
    if place.position < wanted { return wanted }
    place.unjoinable = place.segment
    guard place.position <= latest + frames(0.05) else { return nil }
    do throws(PlaybackError) { try join(run.reader, target, in: segment) } catch {
      if case .interrupted = error { throw error }
    }
    return nil
  }

  private func joinTarget(in segment: QueuedSegment, from heard: Int) -> JoinTarget? {
    if let rendition = segment.rendition, rendition != heard,
      let supplied = segment.supplied[rendition]
    {
      return JoinTarget(
        rendition: rendition, supplied: supplied, reason: segment.reason, isAtEnd: false)
    }
    guard let next = feed.queue.segment(segment.number + 1), let rendition = next.rendition,
      rendition != heard, let supplied = segment.supplied[rendition]
    else { return nil }
    return JoinTarget(rendition: rendition, supplied: supplied, reason: next.reason, isAtEnd: true)
  }

  private func join(
    _ reader: RenditionReader, _ target: JoinTarget, in segment: QueuedSegment
  ) throws(PlaybackError) {
    let (position, fade) = (place.position, longestOverlap)
    let other = try open(target.supplied, target.rendition, at: segment)
    let end = max(position + fade + RenditionMatch.furthestShift, frames(segment.end))
    try other.decodeAhead(end - other.position)
    try reader.decodeAhead(frames(segment.end) - position)
    match.align(other, with: reader)
    let isUpmixed = other.layout == .stereo && settings.upmix != .off
    let lead = isUpmixed ? frames(Self.stereoSeconds) : 0
    let start = max(other.position + other.warmUpFrames, position - lead)
    guard start <= position, other.position + other.ahead.count >= position + fade else { return }
    try other.drop(start - other.position)
    self.run?.end = position + fade
    successor = Run(
      reader: other, joint: position + fade - other.position, reason: target.reason)
  }

  /// Where a segment was fetched twice before anything was heard: what that tells of the rendition
  /// that is not heard.
  func learnOthers(
    than reader: RenditionReader, in segment: QueuedSegment
  ) throws(PlaybackError) {
    guard place.isCut else { return }
    for (rendition, supplied) in segment.supplied where rendition != reader.rendition {
      guard let other = try? open(supplied, rendition, at: segment) else { continue }
      try match.learn(of: other, beside: reader)
    }
  }
}
