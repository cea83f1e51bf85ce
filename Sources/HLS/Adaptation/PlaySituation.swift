// SPDX-License-Identifier: Apache-2.0

/// The state of the player, as the input of an adaptation rule.
public struct PlaySituation: Sendable, Equatable {
  /// Current time in s on the clock of `SegmentTiming.end`.
  public var now: Double
  /// Time since the player began to fetch the presentation, in s.
  public var elapsed: Double
  /// Duration of the sound that is ready to be played, in s.
  public var buffer: Double
  /// Typical duration of a segment, in s.
  public var segmentSeconds: Double
  /// Whether playback has been allowed to start.
  public var hasStarted: Bool
  /// Whether the next segment cannot be fetched yet: it does not exist, or the buffer is full.
  /// False unless the situation is for `AdaptationRule.replacement`.
  public var isWaiting: Bool
  /// Whether all segments have been fetched and the playlist will not be extended. False unless the
  /// situation is for `AdaptationRule.replacement`.
  public var isAtEnd: Bool
  /// Time from the playback position to the live end, in s; nil if the presentation is not live or
  /// no playlist has been loaded yet.
  public var liveDistance: Double?

  public init(
    now: Double, elapsed: Double, buffer: Double, segmentSeconds: Double, hasStarted: Bool,
    isWaiting: Bool = false, isAtEnd: Bool = false, liveDistance: Double? = nil
  ) {
    self.now = now
    self.elapsed = elapsed
    self.buffer = buffer
    self.segmentSeconds = segmentSeconds
    self.hasStarted = hasStarted
    self.isWaiting = isWaiting
    self.isAtEnd = isAtEnd
    self.liveDistance = liveDistance
  }
}

/// A queued segment that has not yet been read to its end.
public struct ReplaceableSegment: Sendable, Equatable {
  public var number: Int
  public var rendition: Int
  /// Time from the read position to the start of the segment, in s; negative if part of the segment
  /// has been read.
  public var secondsLeft: Double

  public init(number: Int, rendition: Int, secondsLeft: Double) {
    self.number = number
    self.rendition = rendition
    self.secondsLeft = secondsLeft
  }
}

/// A queued segment to fetch again in another rendition.
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
  /// Stop the download. Fetch the segment in this lower rendition instead.
  case abandon(rendition: Int)
  /// Stop the download of a replacement and keep the queued segment.
  case giveUp
}

/// A rule that decides which rendition to fetch. The same sequence of calls must give the same
/// decisions.
public protocol AdaptationRule: Sendable {
  /// Returns the rendition in which to fetch the next segment.
  mutating func next(_ situation: PlaySituation) -> Int
  /// Records a download that was completed or cancelled.
  mutating func record(_ timing: SegmentTiming, rendition: Int)
  /// Decides whether to continue a running download.
  ///
  /// - Parameter secondsLeft: the time within which a replacement must arrive, in s; nil for a new
  ///   segment.
  mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse
  /// Returns the queued segment to fetch again and its new rendition; nil if no segment should be
  /// replaced now.
  mutating func replacement(_ situation: PlaySituation, queue: [ReplaceableSegment]) -> Replacement?
  /// Decides whether to play a replacement.
  ///
  /// - Parameter inTime: whether the replacement was fetched early enough to be played.
  mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool
  /// Whether the buffer suffices to start playback.
  func mayStart(_ situation: PlaySituation) -> Bool
  /// The latest change between multichannel and stereo; nil if none is known.
  var lastChange: TreatmentChange? { get }
  /// Returns the expected time to download `bits`, in s; infinite if it is unknown. The default
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
