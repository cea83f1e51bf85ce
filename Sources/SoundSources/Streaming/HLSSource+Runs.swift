// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import HLS
internal import Media
internal import Rendering

extension HLSSource {
  // MARK: The first segment

  /// Returns a reader for the first segment that can be decoded.
  ///
  /// - Throws: `PlaybackError.stream` if there is no such segment, with the reason why fetching
  ///   failed or else with the first problem; or `.interrupted`.
  static func firstReader(
    _ feed: SegmentFeed, _ settings: RenderSettings, _ sampleRate: Int?
  ) throws(PlaybackError) -> RenditionReader {
    var number = 0
    var problem: String?
    while let segment = try feed.segment(number) {
      number += 1
      guard let rendition = segment.rendition, let supplied = segment.supplied[rendition] else {
        problem = problem ?? segment.problem
        continue
      }
      do throws(PlaybackError) {
        return try RenditionReader(
          supplied, rendition: rendition, isStart: segment.start == 0, sampleRate: sampleRate,
          settings: settings, interrupt: feed.interrupt)
      } catch {
        if case .interrupted = error { throw error }
        problem = problem ?? error.description
      }
    }
    throw .stream(problem ?? "the presentation contains nothing that can be played")
  }

  /// Returns the expected layouts, each once. The first is the layout of the first segment. The
  /// layouts of the other renditions follow, derived from their channel counts and the layout
  /// setting. An unknown count is assumed to be 6 for multichannel and otherwise 2.
  static func expectedLayouts(
    _ presentation: OpenPresentation, _ first: RenditionReader, _ settings: RenderSettings
  ) -> [ChannelLayout] {
    var layouts = [first.layout]
    for (index, rendition) in presentation.ladder.enumerated() where index != first.rendition {
      let usual = rendition.isMultichannel ? 6 : 2
      guard let layout = layout(channels: rendition.channels ?? usual, settings.layout),
        !layouts.contains(layout)
      else { continue }
      layouts.append(layout)
    }
    return layouts
  }

  private static func layout(channels: Int, _ option: LayoutOption) -> ChannelLayout? {
    let names = [
      1: "mono", 2: "stereo", 3: "3.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1", 10: "5.1.4",
      12: "7.1.4",
    ]
    let unknown = ChannelLayout.unknown(channels: channels)
    if option != .auto, let wanted = try? option.resolve(unknown) { return wanted }
    guard let name = names[channels] else { return try? LayoutOption.auto.resolve(unknown) }
    return try? LayoutOption(name).resolve(unknown)
  }

  // MARK: Runs

  /// Begins the next run, unless the presentation has ended. Skips segments that are missing or
  /// cannot be decoded.
  func beginNext() throws(PlaybackError) {
    if let successor {
      self.successor = nil
      return begin(successor)
    }
    while let segment = try feed.segment(place.segment) {
      feed.queue.release(before: place.segment)
      guard let rendition = segment.rendition, let supplied = segment.supplied[rendition] else {
        passOver(segment.problem ?? "a segment is missing")
        continue
      }
      do throws(PlaybackError) {
        let reader = try open(supplied, rendition, at: segment)
        try learnOthers(than: reader, in: segment)
        return begin(try meeting(reader, reason: segment.reason))
      } catch {
        if case .interrupted = error { throw error }
        passOver(error.description)
      }
    }
    // Report sound that is missing at the end.
    if let reason = place.gapReason, let whole = duration {
      report.noteHole(
        of: seconds(whole - place.position), at: seconds(place.position), reason: reason)
      place.gapReason = nil
    }
  }

  private func passOver(_ reason: String) {
    place.gapReason = place.gapReason ?? reason
    place.segment += 1
  }

  func open(
    _ supplied: SuppliedSegment, _ rendition: Int, at segment: QueuedSegment
  ) throws(PlaybackError) -> RenditionReader {
    let reader = try RenditionReader(
      supplied, rendition: rendition, isStart: segment.start == 0, sampleRate: sampleRate,
      settings: settings, interrupt: feed.interrupt)
    // If the sound continues, the reading position is a better estimate of the start than the time
    // in the playlist.
    let now = seconds(place.position)
    let goesOn = !place.isCut && place.gapReason == nil && abs(segment.start - now) < 0.5
    let start = place.clock.position(
      of: reader.startTime, cycle: supplied.timeCycle, discontinuity: supplied.discontinuity,
      expected: goesOn && run == nil ? now : segment.start)
    reader.position = frames(start) + match.levels.shift(of: rendition)
    reader.level = .init(at: match.levels.decibels(of: rendition))
    return reader
  }

  /// Returns a run that continues from the reading position. It may begin before that position, to
  /// overlap the previous run, or after it, if sound is missing.
  private func meeting(
    _ reader: RenditionReader, reason: String?
  ) throws(PlaybackError) -> Run {
    let before = place.position - reader.position
    if before > 0 {
      // At the start and after a seek, drop everything before the position. Otherwise, drop the
      // output of a decoder that has not converged, and leave an overlap of at most
      // `longestOverlap`.
      let unclean = place.isCut ? before : min(reader.warmUpFrames, before)
      try reader.drop(max(unclean, before - longestOverlap))
    }
    if let previous, !place.isCut,
      let level = try match.level(of: reader, after: previous, at: place.position)
    {
      let isChange = previous.rendition != reader.rendition
      reader.level.begin(at: level, seconds: isChange ? RenditionMatch.levelSeconds : 0)
    }
    return Run(reader: reader, joint: place.position - reader.position, reason: reason)
  }

  private func begin(_ next: Run) {
    let reader = next.reader
    report.noteHole(
      of: seconds(-next.joint), at: seconds(place.position), reason: place.gapReason)
    tellRendition(of: next)
    match.begin(reader)
    previous = nil
    run = next
    (place.position, place.isCut, place.gapReason) = (reader.position, false, nil)
  }

  private func tellRendition(of run: Run) {
    let reader = run.reader
    guard reader.rendition != report.rendition else { return }
    let bitRate = feed.presentation.ladder[reader.rendition].bitRate
    let frame = reader.position + max(0, run.joint)
    let change = RenditionNews(
      name: "\(reader.layout.name) at \(Int((bitRate / 1000).rounded())) kbit/s",
      layout: reader.layout, bitRate: bitRate, reason: run.reason, at: seconds(frame),
      shift: run.alignment?.shift, agreement: run.alignment?.agreement,
      gain: reader.level.now)
    report.note(change, of: reader.rendition, at: frame)
  }
}
