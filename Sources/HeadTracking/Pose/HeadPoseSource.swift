// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import Geometry
import Synchronization
import System

/// Passes the head pose from the tracker's thread to the renderer.
///
/// The pose is relative to the front of the stage. `recenter()` moves the front to the direction
/// that the head faces. So does a new reference frame, unless `keepFront(_:)` has set the front. If
/// a second tracker feeds a `DeviceSampleSink`, the stage stands still relative to the object that
/// carries that tracker.
///
/// ## Threading
/// Only one thread (the audio thread during playback) may use `pose(at:)`, `pose(at:now:)` and the
/// members for a pass (`beginPass`, `poseOfPass`, `sampleIntervalOfPass`). These members are
/// real-time safe. Any thread may use the other members.
public final class HeadPoseSource: HeadSampleSink, @unchecked Sendable {
  private struct Producer {
    var stage = HeadToStageConditioner()
    var latest: HeadSample?
    var accepted = 0
    var rejected = 0
  }

  /// The part of a source that receives the tracker's samples. A source shares its trunk with its
  /// branches.
  private final class Trunk: Sendable {
    let producer = Mutex(Producer())
    let observers = Mutex<[Observer]>([])
    /// The rings of the source and of its branches. None is ever removed.
    let rings = Mutex<[SequenceRing<StampedPose>]>([])

    deinit {
      rings.withLock { rings in for ring in rings { ring.deallocate() } }
    }

    func makeRing() -> SequenceRing<StampedPose> {
      let ring = SequenceRing(capacity: 256, blank: RecentPoses.none)
      rings.withLock { $0.append(ring) }
      return ring
    }
  }

  private struct Reader {
    var track = HeadToStageTimeline()
    /// The timeline for queued sound that is rendered again.
    var again = HeadToStageTimeline()
    var position = 0
    /// The time of the last `beginPass`, in CLOCK_MONOTONIC nanoseconds; nil before the first.
    var lastPass: Int64?
  }

  private typealias Observer = @Sendable () -> Bool

  private let trunk: Trunk
  private let ring: SequenceRing<StampedPose>
  private let reader: UnsafeMutablePointer<Reader>
  private let quickness = Atomic(false)
  private let predictionCode = Atomic<Int64>(PosePrediction.automatic.code)
  private let rendered = SequenceRing(blank: Quaternion.identity)
  private let used = SequenceRing(blank: SampleUse())

  public convenience init() { self.init(Trunk()) }

  private init(_ trunk: Trunk) {
    self.trunk = trunk
    ring = trunk.makeRing()
    reader = .allocate(capacity: 1)
    reader.initialize(to: Reader())
  }

  deinit {
    reader.deinitialize(count: 1)
    reader.deallocate()
    rendered.deallocate()
    used.deallocate()
  }

  /// Returns a source for another renderer, with its own `prediction` and `correctsQuickly`. The
  /// new source passes on the same poses, from the next sample on.
  public func branch() -> HeadPoseSource { HeadPoseSource(trunk) }

  /// Takes a sample from the tracker. A sample that is not a rotation, or not newer than the
  /// previous one, is counted as rejected.
  ///
  /// - Returns: true if the tracker's reference frame jumped before the sample.
  @discardableResult
  public func push(_ sample: HeadSample) -> Bool {
    defer { tellObservers() }
    return trunk.producer.withLock { producer in
      let breaks = producer.stage.conditioner.breaks
      guard var pose = producer.stage.condition(sample) else {
        producer.rejected += 1
        return false
      }
      producer.accepted += 1
      producer.latest = sample
      pose.ready = monotonic_nanoseconds()
      trunk.rings.withLock { rings in for ring in rings { ring.push(pose) } }
      return pose.breaks != breaks
    }
  }

  /// Adds a function that is called after every pushed sample until the function returns false. The
  /// function must not use this source.
  public func observe(_ observer: @escaping @Sendable () -> Bool) {
    trunk.observers.withLock { $0.append(observer) }
  }

  private func tellObservers() {
    trunk.observers.withLock { $0.removeAll { !$0() } }
  }

  /// Adds one to `HeadPoseStatus.rejectedCount`.
  public func reject() {
    trunk.producer.withLock { $0.rejected += 1 }
  }

  /// Announces that the next sample is in a new reference frame. The front becomes the direction
  /// that the head faces in that sample, or the front set by `keepFront(_:)`.
  public func beginReference() {
    trunk.producer.withLock { $0.stage.beginReference() }
  }

  /// Announces that the next sample follows a pause, in the same reference frame as before.
  public func resumeReference() {
    trunk.producer.withLock { $0.stage.resumeReference() }
  }

  // MARK: The front

  /// Gradually moves the front of the stage to the direction that the head faces at the next
  /// sample.
  public func recenter() {
    trunk.producer.withLock { $0.stage.recenter() }
  }

  public var levelsOnRecenter: Bool {
    get { trunk.producer.withLock { $0.stage.levelsOnRecenter } }
    set {
      trunk.producer.withLock { $0.stage.levelsOnRecenter = newValue }
    }
  }

  /// Whether the tracker's yaw drift is corrected. If so, while the head rests near the front, the
  /// front slowly follows the direction that the head faces. The default is true.
  public var takesDriftBack: Bool {
    get { trunk.producer.withLock { $0.stage.isRecentring } }
    set {
      trunk.producer.withLock { $0.stage.isRecentring = newValue }
    }
  }

  /// The yaw of the front in the tracker's own world, in radians; nil before the first sample and
  /// while the stage is relative to a device.
  public var front: Double? { trunk.producer.withLock { $0.stage.front } }

  /// Sets the front for the tracker's next new reference frame. The setting applies once.
  ///
  /// - Parameter yaw: the yaw of the front in the tracker's own world, in radians. A value that is
  ///   not finite removes the setting.
  public func keepFront(_ yaw: Double) {
    trunk.producer.withLock { $0.stage.keptFront = yaw.isFinite ? yaw : nil }
  }

  // MARK: The device

  /// Takes a sample from the tracker of the device that the stage is fixed to.
  ///
  /// - Returns: true if the reference frame of the device's tracker jumped before the sample.
  @discardableResult
  func pushDevice(_ sample: HeadSample) -> Bool {
    return trunk.producer.withLock { $0.stage.device.push(sample) }
  }

  func beginDeviceReference() {
    trunk.producer.withLock { $0.stage.device.beginReference() }
  }

  func resumeDeviceReference() {
    trunk.producer.withLock { $0.stage.device.resumeReference() }
  }

  // MARK: The renderer's side

  /// How far ahead of the present the head pose is predicted. The default is `automatic`.
  public var prediction: PosePrediction {
    get { PosePrediction(code: predictionCode.load(ordering: .relaxed)) }
    set { predictionCode.store(newValue.code, ordering: .relaxed) }
  }

  /// Whether prediction errors are corrected quickly, over 5 to 40 ms. Otherwise, a correction
  /// takes up to 45 ms, or longer if new samples reach the renderer at intervals above 36 ms. The
  /// default is false.
  public var correctsQuickly: Bool {
    get { quickness.load(ordering: .relaxed) }
    set { quickness.store(newValue, ordering: .relaxed) }
  }

  /// Returns the head pose `headToStage`, relative to the front of the stage.
  ///
  /// The pose is continuous, except where `time` is earlier than in the previous call or at least
  /// 100 ms later.
  ///
  /// - Parameter time: when the sound is heard, in CLOCK_MONOTONIC nanoseconds.
  @_noLocks
  public func pose(at time: Int64) -> Quaternion {
    pose(at: time, now: monotonic_nanoseconds())
  }

  /// Like `pose(at:)`, with `now` as the present time. Both times are in CLOCK_MONOTONIC
  /// nanoseconds.
  @_noLocks
  public func pose(at time: Int64, now: Int64) -> Quaternion {
    takeSamples(heard: time, now: now)
    let pose = reader.pointee.track.pose(at: time, now: now)
    // While queued sound is being rewritten, `beginPass` records the pose that is heard.
    if let last = reader.pointee.lastPass, now - last < 100_000_000 { return pose }
    rendered.push(pose)
    return pose
  }

  /// The timing of the newest sample that the renderer has taken; nil before the first sample.
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
    reader.pointee.track.correctsQuickly = quickness.load(ordering: .relaxed)
    reader.pointee.again.prediction = prediction
  }

  /// Begins a pass over queued sound that is rendered again.
  ///
  /// After a new front, a new or jumped reference frame, or a gap in the samples, the pose eases
  /// from `played` to the new samples, and continues to ease in later passes. Otherwise, the pose
  /// follows the newest samples at once.
  ///
  /// - Parameters:
  ///   - start: when the first frame is heard, in CLOCK_MONOTONIC nanoseconds.
  ///   - end: when the last frame is heard.
  ///   - played: the pose at `start` as it was played.
  ///   - now: the present time, on the same clock.
  @_noLocks
  public func beginPass(from start: Int64, to end: Int64, played: Quaternion, now: Int64) {
    takeSamples(heard: start, now: now)
    reader.pointee.again.beginPass(from: start, to: end, played: played, now: now)
    reader.pointee.lastPass = now
    rendered.push(reader.pointee.again.truth(at: start))
  }

  /// The tracker's sampling interval, in nanoseconds: 0 before the first sample, then 20 ms until
  /// the interval is known.
  public var sampleIntervalOfPass: Int64 {
    @_noLocks get { reader.pointee.again.sampleInterval }
  }

  /// Returns the head pose at a time in the latest pass.
  ///
  /// - Parameter time: when the sound is heard, in CLOCK_MONOTONIC nanoseconds.
  @_noLocks
  public func poseOfPass(at time: Int64) -> Quaternion {
    reader.pointee.again.truth(at: time)
  }

  /// The present state of the tracker and of the pose.
  public var status: HeadPoseStatus { status(now: monotonic_nanoseconds()) }

  /// Returns the state of the tracker and of the pose.
  ///
  /// - Parameter now: the present time, in CLOCK_MONOTONIC nanoseconds.
  public func status(now: Int64) -> HeadPoseStatus {
    trunk.producer.withLock { producer in
      let conditioner = producer.stage.conditioner
      let interval = conditioner.clock.interval
      let age = producer.latest.map { now - $0.time }
      return HeadPoseStatus(
        freshness: Self.freshness(age: age, interval: conditioner.interval),
        pose: rendered.latest ?? .identity,
        latestSample: producer.latest, rate: interval > 0 ? 1e9 / interval : 0,
        ageMilliseconds: age.map { Double($0) * 1e-6 }, acceptedCount: producer.accepted,
        rejectedCount: producer.rejected,
        discontinuityCount: Int(conditioner.breaks),
        isDeviceRelative: producer.stage.isDeviceRelative(now: now))
    }
  }

  private static func freshness(age: Int64?, interval: Int64) -> HeadPoseStatus.Freshness {
    guard let age else { return .waiting }
    let settings = HeadToStageTimeline.Settings.default
    let limit = settings.staleLimit(interval)
    if age <= limit { return .fresh }
    return age <= limit + settings.easeToFront ? .stale : .lost
  }
}
