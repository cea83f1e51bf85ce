// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import Geometry
import Synchronization
import System

/// Where the tracker's samples and the renderer's questions meet.
///
/// The pose is relative to the front of the stage: the yaw of the first sample, and of each
/// `recenter()`. Pitch and roll are gravity's. Where a second tracker feeds a `DeviceSampleSink`,
/// the stage stands still in what that one is fixed to: a screen, a seat. `HeadToStageConditioner`
/// makes poses from samples, `HeadToStageTimeline` connects them.
///
/// ## Threading
/// `push` and the `reference` functions are for any thread, the tracker's usually; `pose(at:)` is
/// the audio thread's (one reader), allocates nothing, takes no lock and never waits; everything
/// else is for any thread.
public final class HeadPoseSource: HeadSampleSink, @unchecked Sendable {
  private struct Producer {
    var stage = HeadToStageConditioner()
    var latest: HeadSample?
    var accepted = 0
    var rejected = 0
  }

  private struct Reader {
    var track = HeadToStageTimeline()
    /// Of what is rendered again.
    var again = HeadToStageTimeline()
    var position = 0
    /// When a pass was begun last, CLOCK_MONOTONIC nanoseconds.
    var lastPass: Int64?
  }

  private typealias Observer = @Sendable () -> Bool

  private let ring = SequenceRing(capacity: 256, blank: RecentPoses.none)
  private let producer = Mutex(Producer())
  private let reader: UnsafeMutablePointer<Reader>
  private let predictionCode = Atomic<Int64>(PosePrediction.automatic.code)
  private let rendered = SequenceRing(blank: Quaternion.identity)
  private let used = SequenceRing(blank: SampleUse())
  private let observers = Mutex<[Observer]>([])

  public init() {
    reader = .allocate(capacity: 1)
    reader.initialize(to: Reader())
  }

  deinit {
    reader.deinitialize(count: 1)
    reader.deallocate()
    ring.deallocate()
    rendered.deallocate()
    used.deallocate()
  }

  /// Takes a sample from the tracker; one that is no rotation, or not newer, is counted and
  /// ignored.
  ///
  /// - Returns: true where the tracker's reference frame jumped before the sample.
  @discardableResult
  public func push(_ sample: HeadSample) -> Bool {
    defer { tellObservers() }
    return producer.withLock { producer in
      let breaks = producer.stage.conditioner.breaks
      guard var pose = producer.stage.condition(sample) else {
        producer.rejected += 1
        return false
      }
      producer.accepted += 1
      producer.latest = sample
      pose.ready = monotonic_nanoseconds()
      ring.push(pose)
      return pose.breaks != breaks
    }
  }

  /// Has a function called after every sample, on the thread that pushes it, for as long as it
  /// returns true. It must not call this source.
  public func observe(_ observer: @escaping @Sendable () -> Bool) {
    observers.withLock { $0.append(observer) }
  }

  private func tellObservers() {
    observers.withLock { $0.removeAll { !$0() } }
  }

  /// Counts a report that holds no sample.
  public func reject() {
    producer.withLock { $0.rejected += 1 }
  }

  /// The next sample comes from a tracker that has just been switched on: where the head looks
  /// then is the front.
  public func beginReference() {
    producer.withLock { $0.stage.beginReference() }
  }

  /// The next sample comes after a pause, in the reference frame that was.
  public func resumeReference() {
    producer.withLock { $0.stage.resumeReference() }
  }

  // MARK: The front

  /// Makes the direction the head looks in at the next sample the front of the stage, within
  /// 0.4 s (yaw only).
  public func recenter() {
    producer.withLock { $0.stage.recenter() }
  }

  /// Whether the front follows where the head rests, too slowly to be heard, so that a tracker's
  /// drift is taken back. True at first.
  public var takesDriftBack: Bool {
    get { producer.withLock { $0.stage.isRecentring } }
    set { producer.withLock { $0.stage.isRecentring = newValue } }
  }

  /// The yaw in the tracker's own world that is the front, radians; nil before the first sample,
  /// and while the front is a device's.
  public var front: Double? { producer.withLock { $0.stage.front } }

  /// Makes a yaw in the tracker's own world the front when its next reference frame begins, in
  /// place of where the head looks then.
  public func keepFront(_ yaw: Double) {
    producer.withLock { $0.stage.keptFront = yaw.isFinite ? yaw : nil }
  }

  // MARK: The device

  /// Takes a sample of the device that the stage stands in.
  ///
  /// - Returns: true where its tracker's reference frame jumped before the sample.
  @discardableResult
  func pushDevice(_ sample: HeadSample) -> Bool {
    producer.withLock { $0.stage.device.push(sample) }
  }

  func beginDeviceReference() {
    producer.withLock { $0.stage.device.beginReference() }
  }

  func resumeDeviceReference() {
    producer.withLock { $0.stage.device.resumeReference() }
  }

  // MARK: The renderer's side

  /// How far ahead of the present the head is predicted.
  public var prediction: PosePrediction {
    get { PosePrediction(code: predictionCode.load(ordering: .relaxed)) }
    set { predictionCode.store(newValue.code, ordering: .relaxed) }
  }

  /// The head's pose `headToWorld` relative to the front of the stage.
  ///
  /// - Parameter time: when the sound is heard, CLOCK_MONOTONIC nanoseconds; usually some tens of
  ///   milliseconds ahead. An earlier time than the last one begins anew, as after a seek.
  @_noLocks
  public func pose(at time: Int64) -> Quaternion {
    pose(at: time, now: monotonic_nanoseconds())
  }

  /// The same with a clock of the caller's, for offline use.
  @_noLocks
  public func pose(at time: Int64, now: Int64) -> Quaternion {
    takeSamples(heard: time, now: now)
    let pose = reader.pointee.track.pose(at: time, now: now)
    // Where the queue is rendered again, what is said first of its end is not what is heard.
    if let last = reader.pointee.lastPass, now - last < 100_000_000 { return pose }
    rendered.push(pose)
    return pose
  }

  /// How the newest sample that the renderer has taken came to it; nil before the first.
  public var latestUse: SampleUse? { used.latest }

  @_noLocks
  private func takeSamples(heard: Int64, now: Int64) {
    while let pose = ring.pop(&reader.pointee.position) {
      reader.pointee.track.append(pose)
      reader.pointee.again.append(pose)
      used.push(SampleUse(arrival: pose.arrival, ready: pose.ready, used: now, heard: heard))
    }
    let prediction = PosePrediction(code: predictionCode.load(ordering: .relaxed))
    reader.pointee.track.prediction = prediction
    reader.pointee.again.prediction = prediction
  }

  /// Begins a pass over a piece of the queue that is rendered again; `pose(at:)` goes on unharmed.
  ///
  /// A new front, or a tracker that has come back, eases from the pose as played; all else is the
  /// newest truth at once. For the thread of `pose(at:)`.
  ///
  /// - Parameters:
  ///   - start: when the piece begins to be heard, CLOCK_MONOTONIC nanoseconds.
  ///   - end: when it ends.
  ///   - played: the pose at `start` as it was played.
  ///   - now: the present moment.
  @_noLocks
  public func beginPass(from start: Int64, to end: Int64, played: Quaternion, now: Int64) {
    takeSamples(heard: start, now: now)
    reader.pointee.again.beginPass(from: start, to: end, played: played, now: now)
    reader.pointee.lastPass = now
    rendered.push(reader.pointee.again.truth(at: start))
  }

  /// Nanoseconds between two samples of the tracker; 0 before the first one.
  public var sampleIntervalOfPass: Int64 {
    @_noLocks get { reader.pointee.again.sampleInterval }
  }

  /// The head's pose at a time as it is known and predicted now, in the pass begun last.
  @_noLocks
  public func poseOfPass(at time: Int64) -> Quaternion {
    reader.pointee.again.truth(at: time)
  }

  /// The state now.
  public var status: HeadPoseStatus { status(now: monotonic_nanoseconds()) }

  /// The state at a moment, CLOCK_MONOTONIC nanoseconds.
  public func status(now: Int64) -> HeadPoseStatus {
    producer.withLock { producer in
      let interval = producer.stage.conditioner.clock.interval
      let age = producer.latest.map { now - $0.time }
      return HeadPoseStatus(
        freshness: Self.freshness(age: age, interval: interval), pose: rendered.latest ?? .identity,
        latestSample: producer.latest, rate: interval > 0 ? 1e9 / interval : 0,
        ageMilliseconds: age.map { Double($0) * 1e-6 }, acceptedCount: producer.accepted,
        rejectedCount: producer.rejected,
        discontinuityCount: Int(producer.stage.conditioner.breaks),
        isDeviceRelative: producer.stage.isDeviceRelative(now: now))
    }
  }

  private static func freshness(age: Int64?, interval: Double) -> HeadPoseStatus.Freshness {
    guard let age else { return .waiting }
    let settings = HeadToStageTimeline.Settings.default
    let limit = settings.staleLimit(Int64(interval))
    if age <= limit { return .fresh }
    return age <= limit + settings.easeToFront ? .stale : .lost
  }
}
