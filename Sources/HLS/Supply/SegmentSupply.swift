// SPDX-License-Identifier: Apache-2.0

/// Fetches a presentation ahead of its reader, in the rendition that the rule chooses.
///
/// ## Threading
/// `run` is for one thread, which it keeps; the queue is for any.
public final class SegmentSupply: Sendable {
  /// How it is fetched.
  public struct Conditions: Sendable {
    /// s that are fetched ahead of what is heard, of a presentation that is there as a whole.
    public var bufferSeconds = 30.0
    /// The same live, in target durations.
    public var liveTargetDurations = 3.0
    /// s at the end of what is there that cannot be heard before more comes.
    public var unreadable = 0.35
    /// s without a byte after which a request is made anew.
    public var silence = 5.0
    /// s for which a server that fails is asked again once nothing is left to be heard.
    public var patience = 15.0
    /// Requests for a segment in one rendition, where asking again may help.
    public var attempts = 3
    /// Gaps in sequence after which it is given up.
    public var mostGaps = 8

    public init() {}
  }

  /// Steady time, s.
  public typealias Clock = @Sendable () -> Double
  /// Waits so many s, or less when there is something to do.
  public typealias Pause = @Sendable (_ seconds: Double) -> Void
  /// Called for each segment that has come, on the thread of `run`.
  public typealias Observer = @Sendable (Arrival) -> Void

  /// A segment that has come.
  public struct Arrival: Sendable {
    public let segment: MediaSegment
    /// In which it stands.
    public let playlist: MediaPlaylist
    public let supplied: SuppliedSegment
    public let rendition: Int
  }

  public let queue = SegmentQueue()
  /// What is fetched from.
  public let presentation: OpenPresentation
  let conditions: Conditions
  let rule: @Sendable () -> any AdaptationRule
  let clock: Clock
  let pause: Pause
  let observer: Observer?

  /// - Parameters:
  ///   - presentation: what is fetched.
  ///   - rule: which rendition comes next.
  ///   - observer: sees all segments.
  public init(
    _ presentation: OpenPresentation, conditions: Conditions = Conditions(),
    clock: @escaping Clock, pause: @escaping Pause, observer: Observer? = nil,
    rule: @escaping @Sendable () -> any AdaptationRule
  ) {
    self.presentation = presentation
    self.conditions = conditions
    self.rule = rule
    self.clock = clock
    self.pause = pause
    self.observer = observer
  }

  /// Fetches until told to stop.
  public func run(isStopped: @escaping @Sendable () -> Bool) {
    var supplier = Supplier(of: self, isStopped: isStopped)
    while !isStopped() { supplier.step() }
  }
}

/// The same rendition always.
public struct FixedRendition: AdaptationRule {
  private let rendition: Int

  public init(_ rendition: Int) { self.rendition = rendition }

  public mutating func next(_ situation: PlaySituation) -> Int { rendition }
  public mutating func record(_ timing: SegmentTiming, rendition: Int) {}
}
