// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import HLS
public import Media
public import Rendering
private import Synchronization

/// A source that plays an HLS presentation as one continuous sound, whichever renditions are
/// fetched.
///
/// The source is a sequence of runs, each of one rendition. If the rendition changes within a
/// segment that is available in both renditions, the two runs overlap. If their sounds agree, they
/// are aligned to the frame and brought to the same loudness. If a segment is missing, there is a
/// gap between two runs. `ConstantBusSource` crossfades the overlaps and bridges the gaps.
///
/// ## Threading
/// Segments are fetched on a separate thread. Any thread may call `abandon`. Use everything else
/// from one thread at a time.
public final class HLSSource: StreamedSource, @unchecked Sendable {
  public let layout: ChannelLayout
  public let sampleRate: Int
  public let isBinaural: Bool
  public let expectedLayouts: [ChannelLayout]
  /// A function that opens the presentation again; nil if it cannot or should not be opened twice.
  /// The creator of the source sets this property.
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)?

  let settings: RenderSettings
  let feed: SegmentFeed
  var place = ReadingPlace()
  /// The current run; nil between runs.
  var run: Run?
  /// The run that follows the current run in an overlap; nil if no overlap is planned.
  var successor: Run?
  /// The reader of the last run, until the next run begins.
  var previous: RenditionReader?
  var match: RenditionMatch
  var report = StreamReport()

  /// A continuous stretch of one rendition.
  struct Run {
    let reader: RenditionReader
    /// The number of frames by which the run begins before the end of the previous run; see
    /// `SoundSource.joint`.
    var joint: Int
    /// Why the rendition differs from the previous one; nil if it does not differ or if no reason
    /// is known.
    var reason: String?
    /// The frame at which the run ends and its successor continues; nil if no change is planned.
    var end: Int?
    /// Whether no segment follows in this run, so that only the frames in the decoder are left to
    /// read.
    var isDraining = false
  }

  /// The length of the crossfade between two overlapping runs, in seconds.
  static let fadeSeconds = 0.15
  /// After a seek, fetching starts with the segment that contains the time this many seconds before
  /// the target.
  private static let prerollSeconds = 0.25

  /// Starts to fetch the presentation and waits for its first segment.
  ///
  /// - Parameters:
  ///   - supply: fetches the segments; this call starts it.
  ///   - settings: determines how channels are interpreted and how level metadata is applied.
  ///   - sampleRate: the output sample rate in Hz; nil for the rate of the first segment.
  ///   - interrupt: a flag that, once raised, makes the source throw `PlaybackError.interrupted`
  ///     instead of waiting, reading or decoding more.
  /// - Throws: `PlaybackError.stream` if nothing in the presentation can be played, or
  ///   `.interrupted` if the flag was raised.
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
  public var warnings: [String] { report.warnings }
  public var duration: Int? { feed.queue.duration.map(frames) }

  public var multichannelOffer: MultichannelOffer? {
    let presentation = feed.presentation
    let isLeftOut =
      presentation.ladder.firstMultichannel == nil && presentation.hasMultichannelBeyond
    return isLeftOut ? .fewerRestrictions : nil
  }

  public var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)? {
    get { match.loudnessAsHeard }
    set { match.loudnessAsHeard = newValue }
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

  /// Continues the run with the next segment. Returns false if that segment is missing, is not
  /// available in the run's rendition or does not follow the sound so far. If the segment is
  /// available in two renditions, any change between them happens within the segment.
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

  /// The length of sound, in seconds, that must be left in the current segment for the source to be
  /// ready before the next segment arrives.
  private static let readAheadSeconds = 0.1

  public var isReady: Bool {
    let queue = feed.queue
    guard queue.mayStart else { return false }
    let segment = queue.segment(place.segment)
    guard run != nil else { return successor != nil || segment != nil || queue.hasEnded }
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
