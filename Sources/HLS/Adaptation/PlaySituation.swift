// SPDX-License-Identifier: Apache-2.0

/// The state of the player, as the input of an adaptation rule.
public struct PlaySituation: Sendable, Equatable {
  /// Current time in s, on the clock of `SegmentTiming`.
  public var now: Double
  /// Time since the player began to fetch the presentation, in s.
  public var elapsed: Double
  /// Duration of the playable sound that has been fetched but not yet played, in s.
  public var buffer: Double
  /// Typical duration of a segment, in s.
  public var segmentSeconds: Double
  /// Whether playback has been allowed to start.
  public var hasStarted: Bool
  /// Whether the player must wait before it fetches the next segment, because the segment does not
  /// exist yet or the buffer is full.
  public var isWaiting: Bool
  /// Time from the playback position to the live end, in s; nil if the presentation is not live.
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

/// A queued segment that has not yet been read to its end.
public struct ReplaceableSegment: Sendable, Equatable {
  public var number: Int
  public var rendition: Int
  /// Time from the read position to the start of the segment, in s; negative if reading of the
  /// segment has begun.
  public var secondsLeft: Double

  public init(number: Int, rendition: Int, secondsLeft: Double) {
    self.number = number
    self.rendition = rendition
    self.secondsLeft = secondsLeft
  }
}

/// A queued segment to fetch again in a better rendition. The two renditions of the segment can
/// then be aligned, and the sound changes from one to the other within the segment.
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
  /// Stop the download and fetch the same segment in this lower rendition.
  case abandon(rendition: Int)
  /// Abandon the replacement of a queued segment (see `Replacement`), because the download would be
  /// late or the throughput is too low.
  case giveUp
}

/// A rule that decides which rendition to fetch. The same sequence of calls always leads to the
/// same decisions.
public protocol AdaptationRule: Sendable {
  /// Returns the rendition in which to fetch the next segment.
  mutating func next(_ situation: PlaySituation) -> Int
  /// Records the timing of a download that was completed or cancelled.
  mutating func record(_ timing: SegmentTiming, rendition: Int)
  /// Decides whether to continue a running download. Called about ten times per second.
  ///
  /// - Parameter secondsLeft: time until a segment that is fetched again in another rendition must
  ///   have arrived, in s; nil for a new segment.
  mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse
  /// Returns a queued segment to fetch again in another rendition; nil if there is none. Called
  /// before `next`, and repeatedly while `isWaiting` is true.
  mutating func replacement(_ situation: PlaySituation, queue: [ReplaceableSegment]) -> Replacement?
  /// Reports that a replacement has been fetched and recorded, or that it could not be fetched. Not
  /// called if `course`, a seek or a stop ended the download of the replacement.
  ///
  /// - Parameter inTime: whether the replacement arrived in time to be played; false if it could
  ///   not be fetched.
  /// - Returns: whether to play the replacement.
  mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool
  /// Whether the buffer suffices to start playing.
  func mayStart(_ situation: PlaySituation) -> Bool
  /// The latest change between multichannel and stereo; nil if there was none or it is unknown.
  var lastChange: TreatmentChange? { get }
  /// Returns the expected duration of a download of this many bits, in s. The default
  /// implementation returns 0.1.
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
