// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import Geometry
import Synchronization

/// Where the tracker's samples and the renderer's questions meet.
///
/// The pose is relative to the front of the stage: the yaw of the first sample, and of each
/// `recenter()`. Pitch and roll are gravity's. `HeadPoseTrack` tells how it is made from samples.
///
/// ## Threading
/// `push` and the `reference` functions are the tracker thread's; `pose(at:)` is the audio
/// thread's (one reader), allocates nothing, takes no lock and never waits; everything else is
/// for any thread.
public final class HeadPoseSource: @unchecked Sendable {
  private struct Producer {
    var conditioner = SampleConditioner()
    var latest: HeadSample?
    var accepted = 0
    var rejected = 0
  }

  private struct Reader {
    var track = HeadPoseTrack()
    var position = 0
    var recentred = 0
  }

  private let ring = PoseRing()
  private let producer = Mutex(Producer())
  private let reader: UnsafeMutablePointer<Reader>
  private let recenterRequests = Atomic<Int>(0)
  private let rendered = RenderedPose()

  public init() {
    reader = .allocate(capacity: 1)
    reader.initialize(to: Reader())
  }

  deinit {
    reader.deinitialize(count: 1)
    reader.deallocate()
    ring.deallocate()
    rendered.deallocate()
  }

  /// Takes a sample from the tracker; one that is no rotation, or not newer, is counted and
  /// ignored.
  ///
  /// - Returns: true where the tracker's reference frame jumped before the sample.
  @discardableResult
  public func push(_ sample: HeadSample) -> Bool {
    producer.withLock { producer in
      let breaks = producer.conditioner.breaks
      guard let pose = producer.conditioner.condition(sample) else {
        producer.rejected += 1
        return false
      }
      producer.accepted += 1
      producer.latest = sample
      ring.push(pose)
      return pose.breaks != breaks
    }
  }

  /// Counts a report that holds no sample.
  public func reject() {
    producer.withLock { $0.rejected += 1 }
  }

  /// The next sample comes from a tracker that has just been switched on: where the head looks
  /// then is the front.
  public func beginReference() {
    producer.withLock { $0.conditioner.beginReference() }
  }

  /// The next sample comes after a pause, in the reference frame that was.
  public func resumeReference() {
    producer.withLock { $0.conditioner.resumeReference() }
  }

  /// Makes the direction the head looks in the front of the stage, at once (yaw only).
  public func recenter() {
    recenterRequests.add(1, ordering: .relaxed)
  }

  /// The head's pose `headToWorld` relative to the front of the stage.
  ///
  /// - Parameter time: when the sound is heard, CLOCK_MONOTONIC nanoseconds; usually some tens of
  ///   milliseconds ahead. An earlier time than the last one begins a new pass over a queue that is
  ///   rewritten.
  @_noLocks
  public func pose(at time: Int64) -> Quaternion {
    pose(at: time, now: monotonic_nanoseconds())
  }

  /// The same with a clock of the caller's, for offline use.
  @_noLocks
  public func pose(at time: Int64, now: Int64) -> Quaternion {
    while let pose = ring.pop(&reader.pointee.position) { reader.pointee.track.append(pose) }
    let requests = recenterRequests.load(ordering: .relaxed)
    if requests != reader.pointee.recentred {
      reader.pointee.recentred = requests
      reader.pointee.track.recenter()
    }
    let pose = reader.pointee.track.pose(at: time, now: now)
    rendered.store(pose)
    return pose
  }

  /// The state now.
  public var status: HeadPoseStatus { status(now: monotonic_nanoseconds()) }

  /// The state at a moment, CLOCK_MONOTONIC nanoseconds.
  public func status(now: Int64) -> HeadPoseStatus {
    producer.withLock { producer in
      let interval = producer.conditioner.clock.interval
      let age = producer.latest.map { now - $0.time }
      return HeadPoseStatus(
        freshness: Self.freshness(age: age, interval: interval), pose: rendered.load(),
        latestSample: producer.latest, rate: interval > 0 ? 1e9 / interval : 0,
        ageMilliseconds: age.map { Double($0) * 1e-6 }, acceptedCount: producer.accepted,
        rejectedCount: producer.rejected,
        discontinuityCount: Int(producer.conditioner.breaks))
    }
  }

  private static func freshness(age: Int64?, interval: Double) -> HeadPoseStatus.Freshness {
    guard let age else { return .waiting }
    let settings = HeadPoseTrack.Settings.default
    let limit = max(settings.staleAfter, settings.staleAfterIntervals * Int64(interval))
    if age <= limit { return .fresh }
    return age <= limit + settings.easeToFront ? .stale : .lost
  }
}
