// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import HLS
public import Media
public import Rendering
private import Synchronization

/// A source that plays an HLS presentation as one continuous sound.
///
/// The source is a sequence of runs, each of one rendition. If a segment is available in the
/// renditions of two consecutive runs, the runs usually overlap. If their sounds agree, they are
/// aligned, and their loudness is matched unless normalisation is off. A missing segment leaves a
/// gap between two runs.
///
/// ## Threading
/// Segments are fetched on a separate thread. Any thread may call `abandon`. Use everything else
/// from one thread at a time.
public final class HLSSource: StreamedSource, @unchecked Sendable {
  public let layout: ChannelLayout
  public let sampleRate: Int
  public let isBinaural: Bool
  public let expectedLayouts: [ChannelLayout]
  /// A function that opens the presentation again; nil if it should not be opened twice.
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)?

  let settings: RenderSettings
  let feed: SegmentFeed
  var place = ReadingPlace()
  /// The run that is being read; nil if there is none.
  var run: Run?
  /// The run that overlaps the current run and then replaces it; nil if no overlap is planned.
  var successor: Run?
  /// Between two runs, the reader of the earlier one; otherwise nil.
  var previous: RenditionReader?
  var match: RenditionMatch
  var report = StreamReport()

  /// A continuous stretch of one rendition.
  struct Run {
    let reader: RenditionReader
    /// The overlap with the previous run, in frames; negative for a gap. See `SoundSource.joint`.
    var joint: Int
    /// Why the rendition changes; nil if it does not change or the reason is unknown.
    var reason: String?
    /// How the run was aligned with the previous one; nil if it was not.
    var alignment: RenditionAlignment?
    /// The frame at which the run ends and its successor continues; nil if no change is planned.
    var end: Int?
    /// Whether only frames in the decoder are left to read.
    var isDraining = false
  }

  /// The length of the longest crossfade between two overlapping runs, in seconds.
  static let fadeSeconds = 0.15
  /// How far before its target a seek starts to fetch, in seconds of presentation time.
  private static let prerollSeconds = 0.25

  /// Starts to fetch the presentation and waits for the first segment that can be decoded.
  ///
  /// - Parameters:
  ///   - supply: fetches the segments.
  ///   - settings: the settings of the renderer.
  ///   - sampleRate: the output sample rate in Hz; nil for the rate of the first segment.
  ///   - interrupt: a flag that, once raised, makes the source throw `PlaybackError.interrupted`.
  /// - Throws: `PlaybackError.stream` if fetching fails or nothing in the presentation can be
  ///   played, or `.interrupted`.
  public init(
    _ supply: SegmentSupply, settings: RenderSettings, sampleRate: Int? = nil,
    interrupt: InterruptFlag? = nil
  ) throws(PlaybackError) {
    self.settings = settings
    feed = SegmentFeed(supply, interrupt: interrupt)
    let first = try Self.firstReader(feed, settings, sampleRate)
    layout = first.layout
    self.sampleRate = first.sampleRate
    isBinaural = first.isBinaural || supply.presentation.areBinaural[first.rendition]
    expectedLayouts = Self.expectedLayouts(supply.presentation, first, settings)
    match = RenditionMatch(channels: first.layout.channelCount)
  }

  public var title: String? { nil }
  public var changesLayout: Bool { true }
  public var longestOverlap: Int { frames(Self.fadeSeconds) }
  public var joint: Int { run?.joint ?? 0 }
  /// The duration of the sound that has been missing so far, in seconds.
  public var missingSeconds: Double { report.missingSeconds }

  public var warnings: [String] {
    report.add(feed.queue.takeWarnings())
    return report.warnings
  }
  public var duration: Int? { feed.queue.duration.map(frames) }

  public var multichannelOffer: MultichannelOffer? {
    let presentation = feed.presentation
    let isLeftOut =
      presentation.ladder.firstMultichannel == nil && presentation.hasMultichannelBeyond
    return isLeftOut ? .fewerRestrictions : nil
  }

  public var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? {
    get { match.loudnessAsHeard }
    // Without normalisation, every rendition plays at its original level.
    set { match.loudnessAsHeard = settings.loudness == nil ? nil : newValue }
  }

  func seconds(_ frame: Int) -> Double { Double(frame) / Double(sampleRate) }
  func frames(_ seconds: Double) -> Int { Int((seconds * Double(sampleRate)).rounded()) }

  // MARK: Reading

  public func nextLayout() throws(PlaybackError) -> ChannelLayout? {
    if run == nil { try beginNext() }
    return run?.reader.layout
  }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames wanted: Int
  ) throws(PlaybackError) -> Int {
    guard let reader = run?.reader else { return 0 }
    while true {
      let limit = try planJoin() ?? run?.end
      let room = limit.map { $0 - place.position } ?? wanted
      guard room > 0 else { return endRun() }
      let count = try reader.read(into: planes, frames: min(wanted, room))
      if count > 0 {
        place.position += count
        match.remember(UnsafePointer(planes), count, sampleRate: sampleRate)
        feed.queue.advance(read: seconds(place.position))
        return count
      }
      if run?.isDraining == true {
        place.segment += 1
        return endRun()
      }
      if try !goOn(reader) {
        reader.finish()
        run?.isDraining = true
      }
    }
  }

  private func endRun() -> Int {
    if let reader = run?.reader, reader.damages > 0 {
      report.noteDamage(before: seconds(place.position))
    }
    previous = run?.reader
    run = nil
    return 0
  }

  /// Continues the run with the next segment. Returns false if that is not possible.
  private func goOn(_ reader: RenditionReader) throws(PlaybackError) -> Bool {
    guard let following = try feed.segment(place.segment + 1), following.rendition != nil,
      let supplied = following.supplied[reader.rendition],
      (try? reader.append(supplied)) == .follows
    else { return false }
    place.segment += 1
    feed.queue.release(before: place.segment)
    return true
  }

  // MARK: Position

  public func abandon() { feed.abandon() }

  public var startFrame: Int { frames(feed.queue.start) }

  public func isHeard(frame: Int) { feed.queue.advance(heard: seconds(frame)) }

  /// If more than this many seconds are left in the segment that is being read, `isReady` does not
  /// require the next segment.
  private static let readAheadSeconds = 0.1

  public var isReady: Bool {
    let queue = feed.queue
    guard queue.mayStart else { return false }
    let segment = queue.segment(place.segment)
    guard run != nil else {
      return successor != nil || queue.hasSound(from: place.segment) || queue.hasEnded
    }
    let left = segment.map { $0.end - seconds(place.position) } ?? 0
    return left > Self.readAheadSeconds || queue.segment(place.segment + 1) != nil
      || queue.hasEnded
  }

  public func takeNews(upTo frame: Int) -> [SourceNews] {
    feed.queue.takeNotes().map { .note($0) } + report.takeNews(upTo: frame)
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    let target = max(0, min(frame, duration ?? frame))
    place.segment = feed.queue.seek(to: max(0, seconds(target) - Self.prerollSeconds))
    (run, successor, previous) = (nil, nil, nil)
    (place.gapReason, place.unjoinable) = (nil, nil)
    place.isCut = true
    place.position = target
  }
}
