// SPDX-License-Identifier: Apache-2.0

/// The state of the player as input of an adaptation rule.
public struct PlaySituation: Sendable, Equatable {
  /// Current time in s, on the clock of `SegmentTiming`.
  public var now: Double
  /// Time since the presentation was requested, in s.
  public var elapsed: Double
  /// Sound that is fetched but not yet played, in s.
  public var buffer: Double
  /// Typical duration of a segment, in s.
  public var segmentSeconds: Double
  /// Whether playback has been allowed to start.
  public var hasStarted: Bool
  /// Whether nothing else can be fetched now: the next segment does not exist yet, or the buffer is
  /// full.
  public var isWaiting: Bool
  /// Time from the playback position to the live end, in s; nil on demand.
  public var liveDistance: Double?

  public init(
    now: Double, elapsed: Double, buffer: Double, segmentSeconds: Double, hasStarted: Bool,
    isWaiting: Bool = false, liveDistance: Double? = nil
  ) {
    self.now = now
    self.elapsed = elapsed
    self.buffer = buffer
    self.segmentSeconds = segmentSeconds
    self.hasStarted = hasStarted
    self.isWaiting = isWaiting
    self.liveDistance = liveDistance
  }
}

/// A segment that is queued and not yet read to its end.
public struct ReplaceableSegment: Sendable, Equatable {
  public var number: Int
  public var rendition: Int
  /// Time until a decoder could use another rendition of it, in s: from the read position to its
  /// start. Negative if it has been started.
  public var secondsLeft: Double

  public init(number: Int, rendition: Int, secondsLeft: Double) {
    self.number = number
    self.rendition = rendition
    self.secondsLeft = secondsLeft
  }
}

/// A queued segment to fetch again in a better rendition. The sound changes within the segment,
/// where both renditions can be aligned.
public struct Replacement: Sendable, Equatable {
  public var number: Int
  public var rendition: Int

  public init(number: Int, rendition: Int) {
    self.number = number
    self.rendition = rendition
  }
}

/// The decision about a running download.
public enum DownloadCourse: Sendable, Equatable {
  case goOn
  /// Stop it and fetch the same segment in this rendition.
  case abandon(rendition: Int)
  /// Stop it. It is a replacement that would be late, or it shows that the throughput is low.
  case giveUp
}

/// Decides which rendition to fetch. Its decisions depend only on its input.
public protocol AdaptationRule: Sendable {
  /// Returns the rendition of the next segment.
  mutating func next(_ situation: PlaySituation) -> Int
  /// Records a download that has ended.
  mutating func record(_ timing: SegmentTiming, rendition: Int)
  /// Decides about a running download. Called about ten times per second.
  ///
  /// - Parameter secondsLeft: time until a replacement must have arrived, in s; nil for other
  ///   segments.
  mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse
  /// Returns a queued segment to replace; nil for none. Called before `next` and while waiting.
  mutating func replacement(_ situation: PlaySituation, queue: [ReplaceableSegment]) -> Replacement?
  /// Called after a replacement has been fetched and recorded.
  ///
  /// - Returns: whether to play the replacement.
  mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool
  /// Whether the buffer suffices to start playing.
  func mayStart(_ situation: PlaySituation) -> Bool
  /// The latest change between multichannel and stereo; nil if there was none or it is unknown.
  var lastChange: TreatmentChange? { get }
  /// Expected duration of a download of this many bits, in s. Default: 0.1.
  func seconds(forBits bits: Double) -> Double
}

extension AdaptationRule {
  public mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse { .goOn }

  public mutating func replacement(
    _ situation: PlaySituation, queue: [ReplaceableSegment]
  ) -> Replacement? { nil }

  public mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool { inTime }

  public func mayStart(_ situation: PlaySituation) -> Bool { situation.buffer > 0 }

  public var lastChange: TreatmentChange? { nil }

  public func seconds(forBits bits: Double) -> Double { 0.1 }
}
