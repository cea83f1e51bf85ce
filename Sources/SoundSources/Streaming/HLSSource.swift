// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import HLS
public import Media
public import Rendering
private import Synchronization

/// An HLS presentation as one sound, whatever renditions it is fetched in.
///
/// It is a row of runs, each of one rendition. Where the rendition changes and a segment is at hand
/// in both, the runs overlap, are aligned to the frame and brought to one loudness; where a segment
/// is missing there is a hole between them. `ConstantBusSource` fades and bridges.
///
/// ## Threading
/// Segments are fetched on a thread of its own; the rest is used by one thread at a time, but for
/// `abandon`.
public final class HLSSource: StreamedSource, @unchecked Sendable {
  public let layout: ChannelLayout
  public let sampleRate: Int
  public let isBinaural: Bool
  public let expectedLayouts: [ChannelLayout]
  /// To be set by who can open the presentation once more.
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)?

  let settings: RenderSettings
  let feed: SegmentFeed
  var place = ReadingPlace()
  /// The run that is read, and the one that takes over from it.
  var run: Run?
  var successor: Run?
  /// The reader of the run that is over, until the next one begins.
  var previous: RenditionReader?
  var match: RenditionMatch
  var report = StreamReport()

  /// A stretch of one rendition.
  struct Run {
    let reader: RenditionReader
    /// See `SoundSource`.
    var joint: Int
    /// Why its rendition is another one than before.
    var reason: String?
    /// The frame at which it ends because its successor takes over.
    var end: Int?
    /// Nothing follows in it but what its decoder still holds.
    var isDraining = false
  }

  /// s that runs overlap.
  static let fadeSeconds = 0.15
  /// s that are decoded before the wanted frame of a seek.
  private static let prerollSeconds = 0.25

  /// Opens it, and waits for its first segment.
  ///
  /// - Parameters:
  ///   - supply: what is fetched; it runs from here on.
  ///   - settings: how channels are read, and what becomes of words on level.
  ///   - sampleRate: Hz; nil for the first segment's own.
  ///   - interrupt: makes every call give up.
  /// - Throws: `.stream` where nothing of it can be had.
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

  /// Goes on with the run's next segment; false where none follows. Where that is to be heard in
  /// another rendition, the change is within it, if it is there in both.
  private func goOn(_ reader: RenditionReader) throws(PlaybackError) -> Bool {
    guard let following = try feed.segment(place.segment + 1), following.rendition != nil,
      let supplied = following.supplied[reader.rendition],
      (try? reader.append(supplied)) == .follows
    else { return false }
    place.segment += 1
    feed.queue.release(before: place.segment)
    return true
  }

  // MARK: Where it is

  public func abandon() { feed.abandon() }

  public var startFrame: Int { frames(feed.queue.start) }

  public func isHeard(frame: Int) { feed.queue.advance(heard: seconds(frame)) }

  /// s that may be read beyond a request.
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
