// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import CRealtime
public import HLS
private import HeadTracking
public import Media
private import Synchronization

/// An HLS presentation as one sound, whatever tiers it is fetched in.
///
/// It is a row of runs, each of one tier. Where the tier changes and both versions are at hand, the runs
/// overlap, are aligned to the frame and brought to one loudness; where a segment is missing there is
/// a hole between them. `ConstantBusSource` fades and bridges.
///
/// ## Threading
/// Segments are fetched on a thread of its own; the rest is used by one thread at a time, but for
/// `abandon`.
public final class HLSSource: StreamedSource, @unchecked Sendable {
  public let layout: ChannelLayout
  public let sampleRate: Int
  public let isBinaural: Bool
  public let expectedLayouts: [ChannelLayout]
  public internal(set) var warnings: [String] = []
  public internal(set) var joint = 0
  public var loudnessAsHeard: ((ChannelLayout, [[Float]]) -> Double?)?
  /// To be set by who can open the presentation once more.
  public var another: (@Sendable () throws(PlaybackError) -> any SoundSource)?

  let supply: SegmentSupply
  let settings: RenderSettings
  let interrupt: InterruptFlag?
  private let worker = Worker()
  private let isAbandoned = Atomic(false)

  /// The run that is read, and the one that takes over from it.
  var reader: RenditionReader?
  var successor: Successor?
  /// The run that is over, until the next one begins.
  var previous: RenditionReader?
  /// The item that the run's segment is of.
  var item = 0
  /// The frame that comes next.
  var position = 0
  /// Where the run ends because its successor takes over.
  var runEnd: Int?
  /// Nothing follows in the run but what its decoder still holds.
  var isDraining = false
  /// What comes next does not have to lie over what came before.
  var isCut = true
  var clock = SegmentClock()
  var levels = TierLevels()
  /// What the run has given, the newest last.
  var history: SoundLine
  /// Why what comes next was not there.
  var gapReason: String?
  var heardTier: Int?
  /// What was found where two tiers were compared last.
  var comparison: SoundAlignment?
  var news: [(frame: Int, news: SourceNews)] = []
  /// An item in which a join was tried in vain.
  var unjoinable: Int?

  struct Successor {
    var reader: RenditionReader
    var joint: Int
    var reason: String?
  }

  /// s that runs overlap.
  static let fadeSeconds = 0.15
  /// s of the past that are compared with another tier.
  static let historySeconds = 3.0
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
    self.supply = supply
    self.settings = settings
    self.interrupt = interrupt
    let worker = worker
    worker.start { supply.run { worker.isStopped } }
    let first: RenditionReader
    do throws(PlaybackError) {
      first = try Self.firstReader(supply, settings, sampleRate, interrupt)
    } catch {
      worker.stop()
      throw error
    }
    layout = first.layout
    self.sampleRate = first.sampleRate
    isBinaural = first.isBinaural || supply.presentation.areBinaural[first.tier]
    expectedLayouts = Self.expectedLayouts(supply.presentation, first, settings)
    history = SoundLine(channels: first.layout.channelCount)
  }

  deinit { worker.stop() }

  public var title: String? { nil }
  public var changesLayout: Bool { true }
  public var longestOverlap: Int { frames(Self.fadeSeconds) }

  public var duration: Int? { supply.queue.duration.map(frames) }

  public var multichannelOffer: String? {
    guard supply.presentation.ladder.firstMultichannel == nil,
      supply.presentation.hasMultichannelBeyond
    else { return nil }
    return "leave out what keeps it to stereo (--prefer, --max-bitrate)"
  }

  func seconds(_ frame: Int) -> Double { Double(frame) / Double(sampleRate) }
  func frames(_ seconds: Double) -> Int { Int((seconds * Double(sampleRate)).rounded()) }

  // MARK: Reading

  public func nextLayout() throws(PlaybackError) -> ChannelLayout? {
    if reader == nil { try beginNext() }
    return reader?.layout
  }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames wanted: Int
  ) throws(PlaybackError) -> Int {
    guard let reader else { return 0 }
    while true {
      let limit = try planJoin(from: reader) ?? runEnd
      let room = limit.map { $0 - position } ?? wanted
      guard room > 0 else { return end(of: reader) }
      let count = try media { () throws(MediaError) in
        try reader.read(into: planes, frames: min(wanted, room))
      }
      if count > 0 {
        position += count
        history.append(UnsafePointer(planes), frames: count)
        history.keepLast(frames(Self.historySeconds))
        supply.queue.advance(read: seconds(position))
        return count
      }
      if isDraining {
        item += 1
        return end(of: reader)
      }
      if try !goOn(reader) {
        reader.finish()
        isDraining = true
      }
    }
  }

  /// The run is over.
  private func end(of reader: RenditionReader) -> Int {
    if reader.damages > 0 {
      let place = clockText(seconds(position))
      warnings.append(
        "before \(place) some of what came did not decode; silence was put in its place")
    }
    previous = reader
    self.reader = nil
    runEnd = nil
    isDraining = false
    return 0
  }

  /// Goes on with the run's next segment; false where none follows. Where that is to be heard in another
  /// tier, the change is within it, if both versions are there.
  private func goOn(_ reader: RenditionReader) throws(PlaybackError) -> Bool {
    guard let following = try wait(for: item + 1), following.tier != nil,
      let segment = following.versions[reader.tier],
      (try? reader.append(segment)) == .follows
    else { return false }
    item += 1
    supply.queue.release(before: item)
    return true
  }

  func media<T>(_ body: () throws(MediaError) -> T) throws(PlaybackError) -> T {
    do throws(MediaError) { return try body() } catch { throw PlaybackError(error) }
  }

  /// An item; nil where none follows.
  func wait(for id: Int) throws(PlaybackError) -> SupplyItem? {
    while true {
      if isAbandoned.load(ordering: .relaxed) { throw .interrupted }
      if let answer = try Self.look(for: id, in: supply.queue, interrupt) { return answer.item }
      pauseThread(milliseconds: 5)
    }
  }

  /// Nil where one has to wait; an answer without an item where none follows.
  static func look(
    for id: Int, in queue: SegmentQueue, _ interrupt: InterruptFlag?
  ) throws(PlaybackError) -> (item: SupplyItem?, Void)? {
    if interrupt?.isRaised == true { throw .interrupted }
    let hasEnded = queue.hasEnded
    if let item = queue.item(id) { return (item, ()) }
    guard hasEnded else { return nil }
    if let failure = queue.failure { throw .stream(failure) }
    return (nil, ())
  }

  // MARK: Where it is

  public func abandon() { isAbandoned.store(true, ordering: .relaxed) }

  public var startFrame: Int { frames(supply.queue.start) }

  public func isHeard(frame: Int) { supply.queue.advance(heard: seconds(frame)) }

  /// s that may be read beyond a request.
  private static let readAheadSeconds = 0.1

  public var isReady: Bool {
    let queue = supply.queue
    guard queue.mayStart else { return false }
    guard reader != nil else {
      return successor != nil || queue.item(item) != nil || queue.hasEnded
    }
    let left = queue.item(item).map { $0.end - seconds(position) } ?? 0
    return left > Self.readAheadSeconds || queue.item(item + 1) != nil || queue.hasEnded
  }

  public func takeNews(upTo frame: Int) -> [SourceNews] {
    let due = news.filter { $0.frame <= frame }.map(\.news)
    news.removeAll { $0.frame <= frame }
    return supply.queue.takeNotes().map { .note($0) } + due
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    let target = max(0, min(frame, duration ?? frame))
    item = supply.queue.seek(to: max(0, seconds(target) - Self.prerollSeconds))
    (reader, successor, previous) = (nil, nil, nil)
    (runEnd, gapReason, unjoinable) = (nil, nil, nil)
    isDraining = false
    isCut = true
    position = target
  }
}
