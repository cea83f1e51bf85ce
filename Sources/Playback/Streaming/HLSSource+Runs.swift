// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import CRealtime
internal import HLS
internal import Media

extension HLSSource {
  // MARK: The first segment

  /// Reads the beginning of the first segment that decodes.
  static func firstReader(
    _ supply: SegmentSupply, _ settings: RenderSettings, _ sampleRate: Int?,
    _ interrupt: InterruptFlag?
  ) throws(PlaybackError) -> RenditionReader {
    var id = 0
    var problem: String?
    while true {
      guard let answer = try look(for: id, in: supply.queue, interrupt) else {
        pauseThread(milliseconds: 2)
        continue
      }
      guard let item = answer.item else {
        throw .stream(problem ?? "there is nothing in it that can be played")
      }
      id += 1
      guard let tier = item.tier, let segment = item.versions[tier] else {
        problem = problem ?? item.problem
        continue
      }
      do throws(MediaError) {
        return try RenditionReader(
          segment, tier: tier, isStart: item.start == 0, sampleRate: sampleRate,
          settings: settings, interrupt: interrupt)
      } catch {
        if error == .interrupted { throw .interrupted }
        problem = problem ?? error.description
      }
    }
  }

  /// The layouts of all tiers, by the first segment's and by what the playlist counts.
  static func expectedLayouts(
    _ presentation: OpenPresentation, _ first: RenditionReader, _ settings: RenderSettings
  ) -> [ChannelLayout] {
    var layouts = [first.layout]
    for (index, tier) in presentation.ladder.tiers.enumerated() where index != first.tier {
      let usual = tier.isMultichannel ? 6 : 2
      guard let layout = layout(channels: tier.channels ?? usual, settings.layout),
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

  /// Begins the next run; there is none where nothing follows.
  func beginNext() throws(PlaybackError) {
    if let successor {
      self.successor = nil
      return begin(successor.reader, joint: successor.joint, reason: successor.reason)
    }
    while let found = try wait(for: item) {
      supply.queue.release(before: item)
      guard let tier = found.tier, let segment = found.versions[tier] else {
        passOver(found.problem ?? "it is missing")
        continue
      }
      do throws(PlaybackError) {
        let reader = try open(segment, tier, at: found)
        try learnOthers(than: reader, in: found)
        return try place(reader)
      } catch {
        if case .interrupted = error { throw error }
        passOver(error.description)
      }
    }
  }

  private func passOver(_ reason: String) {
    gapReason = gapReason ?? reason
    item += 1
  }

  /// A reader for a segment, at its place in the presentation.
  func open(
    _ segment: SuppliedSegment, _ tier: Int, at found: SupplyItem
  ) throws(PlaybackError) -> RenditionReader {
    let reader = try media { () throws(MediaError) in
      try RenditionReader(
        segment, tier: tier, isStart: found.start == 0, sampleRate: sampleRate,
        settings: settings, interrupt: interrupt)
    }
    // Where the sound goes on, its own end is a better measure than the lengths in the playlist.
    let goesOn = !isCut && gapReason == nil && abs(found.start - seconds(position)) < 0.5
    let isAgain = self.reader != nil
    let start = clock.position(
      of: reader.startTime, cycle: segment.timeCycle, discontinuity: segment.discontinuity,
      expected: goesOn && !isAgain ? seconds(position) : found.start)
    reader.position = frames(start) + levels.shift(of: tier)
    reader.level = .init(at: levels.decibels(of: tier))
    return reader
  }

  /// Begins with a reader where the run before ended, as far as it reaches back to there.
  private func place(_ reader: RenditionReader) throws(PlaybackError) {
    let before = position - reader.position
    if before > 0 {
      // What a decoder gives before it has converged is no loss where the run before has it.
      let unclean = isCut ? before : min(reader.warmUpFrames, before)
      let surplus = max(unclean, before - longestOverlap)
      try media { () throws(MediaError) in try reader.drop(surplus) }
    }
    if let level = try levelOfMeeting(reader) {
      let isChange = previous?.tier != reader.tier
      reader.level.begin(at: level, seconds: isChange ? Self.levelSeconds : 0)
    }
    begin(reader, joint: position - reader.position, reason: supply.queue.item(item)?.reason)
  }

  private func begin(_ reader: RenditionReader, joint: Int, reason: String?) {
    noteHole(-joint)
    noteTier(reader, at: reader.position + max(0, joint), reason)
    levels.hears(reader.tier)
    previous = nil
    self.reader = reader
    self.joint = joint
    position = reader.position
    isCut = false
    runEnd = nil
    history = SoundLine(channels: reader.layout.channelCount)
  }

  // MARK: What is told

  private func noteHole(_ frames: Int) {
    let length = seconds(frames)
    if length >= 0.03 {
      let place = clockText(seconds(position))
      let reason = gapReason.map { ": \($0)" } ?? ""
      warnings.append("from \(place) on \(fixed(length, decimals: 2)) s are missing\(reason)")
    }
    gapReason = nil
  }

  private func noteTier(_ reader: RenditionReader, at frame: Int, _ reason: String?) {
    guard reader.tier != heardTier else { return }
    let tier = supply.presentation.ladder.tiers[reader.tier]
    let reason = heardTier == nil ? nil : reason
    heardTier = reader.tier
    let change = RenditionNews(
      name: "\(reader.layout.name) at \(Int((tier.bitRate / 1000).rounded())) kbit/s",
      layout: reader.layout, bitRate: tier.bitRate, reason: reason, at: seconds(frame),
      shift: comparison?.shift, agreement: comparison?.agreement,
      gain: reader.level.now)
    comparison = nil
    news.append((frame, .rendition(change)))
  }
}
