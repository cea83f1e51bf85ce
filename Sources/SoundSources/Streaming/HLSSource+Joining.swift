// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
internal import Media
internal import Rendering
private import Surround

extension HLSSource {
  /// The shortest planned time between the end of a crossfade and the end of the segment, in
  /// seconds.
  private static let leastLeft = 0.1
  /// How long a segment is usually played before a crossfade to stereo begins, in seconds. The
  /// upmix of the stereo rendition needs this time to settle.
  private static let stereoSeconds = 1.25
  /// How long a segment is usually played before a crossfade to multichannel begins, in seconds.
  /// The level of the multichannel rendition is measured over this time.
  private static let multichannelSeconds = 3.0

  private struct JoinTarget {
    var rendition: Int
    var supplied: SuppliedSegment
    var reason: String?
    var isAtEnd: Bool
  }

  /// Prepares a change to another rendition within the current segment, if the queue requests one.
  ///
  /// - Returns: the frame at which to call this function again; nil if there is none.
  /// - Throws: `PlaybackError.interrupted`.
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
    // Attempt the change only once per segment. If it fails, the run continues.
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
    // Decode both renditions to the end of the segment for the comparison.
    try other.decodeAhead(end - other.position)
    try reader.decodeAhead(frames(segment.end) - position)
    let alignment = match.align(other, with: reader)
    // Let stereo start early enough for its upmix to settle before the crossfade.
    let isUpmixed = other.layout == .stereo && settings.upmix != .off
    let lead = isUpmixed ? frames(Self.stereoSeconds) : 0
    let start = max(other.position + other.warmUpFrames, position - lead)
    guard start <= position, other.position + other.ahead.count >= position + fade else { return }
    try other.drop(start - other.position)
    self.run?.end = position + fade
    successor = Run(
      reader: other, joint: position + fade - other.position, reason: target.reason,
      alignment: alignment)
  }

  /// At the start and after a seek, learns the shifts and levels of a segment's other renditions.
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
