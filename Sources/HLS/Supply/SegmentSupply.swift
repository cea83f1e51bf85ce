// SPDX-License-Identifier: Apache-2.0

/// Fetches the segments of a presentation into `queue`, ahead of playback. An adaptation rule
/// chooses the renditions.
///
/// ## Threading
/// Call `run` on a thread of its own. The queue may be used from any thread.
public final class SegmentSupply: Sendable {
  /// Limits for buffers and retries.
  public struct Conditions: Sendable {
    /// How far to fetch an on-demand presentation ahead of playback, in s.
    public var bufferSeconds = 30.0
    /// How far to fetch a live presentation ahead of playback, in target durations.
    public var liveTargetDurations = 3.0
    /// Duration of the sound at the end of the queue that can be played only when the next segment
    /// has arrived, in s.
    public var unreadable = 0.35
    /// Time without a byte after which the download of a segment or of a newer copy of a playlist
    /// fails, in s. The time is usually shorter while the connection is lost.
    public var silence = 5.0
    /// Time for which requests for a segment are repeated if they fail, in s. While more than 4 s
    /// of sound is buffered, requests continue even after this time.
    ///
    /// The time is tripled if the server gives no complete answer. After a segment has been given
    /// up for that reason, or because the server was too slow, the time is divided by 3 until
    /// another segment has been fetched.
    public var patience = 15.0
    /// Time for which a live playlist that no longer changes is still requested after the last
    /// sound, in s.
    public var livePatience = 60.0
    /// Maximum number of requests to a server for a segment, before a redundant playlist or another
    /// rendition is tried. A request that cannot succeed is not repeated.
    public var attempts = 3
    /// Number of consecutive gaps at which the supply of an on-demand presentation from a server
    /// fails. The number is checked only when a segment cannot be loaded, not when its playlist
    /// does not list it or marks it as a gap.
    public var mostGaps = 8

    public init() {}
  }

  /// A function that returns monotonic time, in s.
  public typealias Clock = @Sendable () -> Double
  /// A function that waits for `seconds`; it may return earlier.
  public typealias Pause = @Sendable (_ seconds: Double) -> Void
  /// A function that is called for each segment that has arrived, on the thread of `run`.
  public typealias Observer = @Sendable (Arrival) -> Void

  /// A fetched segment, with the playlist that lists it.
  public struct Arrival: Sendable {
    public let segment: MediaSegment
    public let playlist: MediaPlaylist
    /// The address of the playlist, after redirects.
    public let address: ResourceAddress
    public let supplied: SuppliedSegment
    public let rendition: Int
  }

  public let queue = SegmentQueue()
  public let presentation: OpenPresentation
  let conditions: Conditions
  let rule: @Sendable () -> any AdaptationRule
  let clock: Clock
  let pause: Pause
  let observer: Observer?

  /// Creates a supply. Call `run` to start it.
  ///
  /// - Parameter rule: creates the rule that chooses the renditions.
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

  /// Fetches segments until `isStopped` returns true. Blocks the calling thread, even after the end
  /// of the presentation, because a seek may follow.
  public func run(isStopped: @escaping @Sendable () -> Bool) {
    var supplier = Supplier(of: self, isStopped: isStopped)
    while !isStopped() { supplier.step() }
  }
}

/// An adaptation rule that always chooses the same rendition.
public struct FixedRendition: AdaptationRule {
  private let rendition: Int

  public init(_ rendition: Int) { self.rendition = rendition }

  public mutating func next(_ situation: PlaySituation) -> Int { rendition }
  public mutating func record(_ timing: SegmentTiming, rendition: Int) {}
}
