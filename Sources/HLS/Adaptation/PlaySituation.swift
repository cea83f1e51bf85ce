// SPDX-License-Identifier: Apache-2.0

/// What a rule knows of the player when it decides.
public struct PlaySituation: Sendable, Equatable {
  /// s, on the clock of `SegmentTiming`.
  public var now: Double
  /// s since the presentation was asked for.
  public var elapsed: Double
  /// s of sound that were fetched and are not yet heard.
  public var buffer: Double
  /// s of a segment.
  public var segmentSeconds: Double
  /// Something has been heard.
  public var hasStarted: Bool
  /// Nothing else can be fetched at this moment: the next segment does not exist yet, or enough is
  /// buffered.
  public var isWaiting: Bool
  /// s from what is heard to the end of what the server has; nil on demand.
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

/// A segment that was fetched and is not yet heard to its end.
public struct ReplaceableSegment: Sendable, Equatable {
  public var number: Int
  public var rendition: Int
  /// s until a decoder could begin with another rendition of it: from now to its start, less what
  /// is decoded ahead. Negative where it has begun.
  public var secondsLeft: Double

  public init(number: Int, rendition: Int, secondsLeft: Double) {
    self.number = number
    self.rendition = rendition
    self.secondsLeft = secondsLeft
  }
}

/// A queued segment that is to be fetched again in a better rendition. The sound changes within it,
/// where both renditions are at hand to be aligned.
public struct Replacement: Sendable, Equatable {
  public var number: Int
  public var rendition: Int

  public init(number: Int, rendition: Int) {
    self.number = number
    self.rendition = rendition
  }
}

/// What becomes of a running download.
public enum DownloadCourse: Sendable, Equatable {
  case goOn
  /// End it and fetch the same segment in this rendition.
  case abandon(rendition: Int)
  /// End it; it was a replacement that will not come in time, or shows that the line is thin.
  case giveUp
}

/// Decides what is fetched, from nothing but what it has been told.
public protocol AdaptationRule: Sendable {
  /// The rendition of the next segment.
  mutating func next(_ situation: PlaySituation) -> Int
  /// A download has ended.
  mutating func record(_ timing: SegmentTiming, rendition: Int)
  /// To be asked some ten times a second while a segment comes.
  ///
  /// - Parameter secondsLeft: of a replacement: s until it has to be there.
  mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse
  /// To be asked before `next` and while waiting.
  mutating func replacement(_ situation: PlaySituation, queue: [ReplaceableSegment]) -> Replacement?
  /// A replacement has been fetched and recorded.
  ///
  /// - Returns: whether it is to be heard.
  mutating func replaced(inTime: Bool, _ situation: PlaySituation) -> Bool
  /// Whether playing may begin with what is buffered.
  func mayStart(_ situation: PlaySituation) -> Bool
  /// The latest change between multichannel and stereo, and its reason; nil where none is known.
  var lastChange: TreatmentChange? { get }
  /// s that so many bits are expected to need. Default: 0.1.
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
