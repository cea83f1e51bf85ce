// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// A buffer of interleaved frames between two clocks whose speeds differ slightly.
///
/// A PI controller sets the resampling ratio so that the number of waiting frames stays about
/// constant. If frames are missing, the sound pauses until enough frames wait again. It then fades
/// in, unless `Depth.excess` is infinite.
///
/// A buffer whose `Depth.longest` exceeds `Depth.initial` is adaptive: it keeps as little sound
/// waiting as the irregularity of the two sides permits, but at least `Depth.initial`. It becomes
/// deeper after a pause or when a read leaves hardly any frames. It becomes shallower when every
/// read for some time has left more than necessary.
///
/// ## Threading
/// One thread may write, and another may call `restart` and `read`. Both sides are wait-free and do
/// not allocate. Any thread may use `waitingFrames`, `pauses` and `targetSeconds`.
package final class ClockBridge: @unchecked Sendable {
  /// How much sound waits between the two clocks.
  package struct Depth: Sendable, Equatable {
    /// The initial and shortest target duration of waiting sound [s].
    package var initial: Double
    /// The longest target duration of waiting sound [s]; `initial` if the target is constant.
    package var longest: Double
    /// If the smoothed duration of waiting sound exceeds the target by more than this, the excess
    /// is dropped at once [s].
    package var excess: Double

    package init(initial: Double, longest: Double, excess: Double) {
      (self.initial, self.longest, self.excess) = (initial, longest, excess)
    }

    /// Returns a depth that missing frames do not change. `read` drops sound only if the buffer is
    /// more than half full.
    package static func constant(_ seconds: Double) -> Depth {
      Depth(initial: seconds, longest: seconds, excess: .infinity)
    }
  }

  private static let capacity = 1 << 16
  // The gains are not a tuple, because the first use of a tuple would take a lock in the render
  // call.
  /// The controller's proportional gain [1/s].
  private static let proportional = 0.2
  /// The controller's integral gain [1/s^2].
  private static let integral = 0.01
  /// The largest deviation of the ratio from 1.
  private static let largestDeviation = 0.005
  /// Time constant of the smoothed error [s].
  private static let smoothing = 1.0
  private static let growth = 1.5
  private static let fadeSeconds = 0.01
  /// The duration of sound that every read should leave [s]. The sound therefore continues even if
  /// a block is later than all recent blocks by up to this time.
  private static let reserve = 0.008
  /// A read that leaves less sound than this has left too little [s].
  private static let scarcity = 0.001
  /// The increase of the depth when a read has left too little [s].
  private static let increase = 0.002
  /// For this time after the start and after each increase, a read that has left too little does
  /// not increase the depth [s].
  private static let increaseInterval = 1.0
  /// The initial time for which reads are observed before the depth is reduced [s].
  private static let observation = 4.0
  /// The longest time for which reads are observed before the depth is reduced [s].
  private static let longestObservation = 64.0

  package let channelCount: Int
  private let sampleRate: Double
  private let depth: Depth
  private let ring: UnsafeMutablePointer<Float>
  private let written = Atomic<Int>(0)
  private let taken = Atomic<Int>(0)
  private let interruptions = Atomic<Int>(0)
  private let target: Atomic<UInt64>
  private let reader: UnsafeMutablePointer<Reader>

  private struct Reader {
    var position = 1.0
    var isPrimed = false
    /// The number of frames since the fade-in began, at most its length.
    var sounding = 0
    var error = 0.0
    var sum = 0.0
    /// The least duration of sound that a read has left during the observation [s].
    var least = Double.infinity
    /// The duration of the observation so far [s].
    var observed = 0.0
    /// The duration of sound read since the last increase; before the first, since the start [s].
    var sinceIncrease = 0.0
    /// How long to observe the reads before the depth is reduced [s].
    var patience = ClockBridge.observation
    /// Whether the depth was reduced since it was last increased.
    var isReduced = false
  }

  /// Creates an empty buffer.
  ///
  /// - Parameters:
  ///   - channelCount: the number of channels, 1 or more.
  ///   - sampleRate: the nominal rate on both sides [Hz].
  package init(channelCount: Int, sampleRate: Double, depth: Depth) {
    precondition(channelCount > 0 && sampleRate > 0)
    (self.channelCount, self.sampleRate, self.depth) = (channelCount, sampleRate, depth)
    ring = .allocate(capacity: Self.capacity * channelCount)
    ring.initialize(repeating: 0, count: Self.capacity * channelCount)
    target = Atomic(depth.initial.bitPattern)
    reader = .allocate(capacity: 1)
    reader.initialize(to: Reader())
  }

  deinit {
    ring.deallocate()
    reader.deallocate()
  }

  /// The number of waiting frames, minus three that the interpolation needs.
  package var waitingFrames: Int {
    max(0, written.load(ordering: .acquiring) - taken.load(ordering: .relaxed) - 3)
  }

  /// The number of times the sound has paused for lack of frames.
  package var pauses: Int { interruptions.load(ordering: .relaxed) }

  private var isAdaptive: Bool { depth.longest > depth.initial }

  /// The duration of sound that should wait before a read [s].
  package var targetSeconds: Double { Double(bitPattern: target.load(ordering: .relaxed)) }

  // MARK: The writer

  /// Appends `frameCount` x `channelCount` samples; nil for silence. Of more than 65,536 frames,
  /// only the newest 65,536 are appended.
  package func write(_ samples: UnsafePointer<Float>?, frameCount: Int) {
    let first = written.load(ordering: .relaxed)
    let count = min(frameCount, Self.capacity)
    let skipped = (frameCount - count) * channelCount
    for frame in 0..<count {
      let target = ring + (first + frame) % Self.capacity * channelCount
      let source = samples.map { $0 + skipped + frame * channelCount }
      for channel in 0..<channelCount { target[channel] = source?[channel] ?? 0 }
    }
    written.store(first + count, ordering: .releasing)
  }

  // MARK: The reader

  /// Drops all waiting frames. Reading begins again when enough new frames wait.
  package func restart() {
    reader.pointee.isPrimed = false
    move(to: Double(max(1, written.load(ordering: .acquiring))))
  }

  /// Reads up to `frameCount` frames. Returns the number of frames read.
  package func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int {
    var waiting = waitingFrames
    if waiting > Self.capacity / 2 {
      restart()
      waiting = 0
    }
    if !reader.pointee.isPrimed { waiting = prime(waiting, frameCount) }
    guard reader.pointee.isPrimed, frameCount > 0 else { return 0 }
    let ratio = ratio(waiting: waiting, frameCount: frameCount)
    if reader.pointee.error > depth.excess { waiting = dropExcess(waiting) }
    let count = min(frameCount, Int(Double(waiting) / ratio))
    let start = reader.pointee.position
    for frame in 0..<count {
      interpolate(at: start + Double(frame) * ratio, into: samples + frame * channelCount)
    }
    fade(samples, count)
    move(to: start + Double(count) * ratio)
    if count < frameCount { pause() } else { adapt(frameCount) }
    return count
  }

  /// Adapts the depth to the frames that are left after a read of `frameCount` frames.
  private func adapt(_ frameCount: Int) {
    guard isAdaptive else { return }
    let time = Double(frameCount) / sampleRate
    let left = Double(waitingFrames) / sampleRate
    reader.pointee.least = min(reader.pointee.least, left)
    reader.pointee.observed += time
    reader.pointee.sinceIncrease += time
    if left < Self.scarcity, reader.pointee.sinceIncrease > Self.increaseInterval {
      deepen(to: targetSeconds + Self.increase)
    } else if reader.pointee.observed > reader.pointee.patience {
      let surplus = max(0, reader.pointee.least - Self.reserve)
      // Only half of the surplus is removed, because the buffer follows its new depth slowly.
      let shallower = max(depth.initial, targetSeconds - surplus / 2)
      if shallower < targetSeconds { reader.pointee.isReduced = true }
      setTarget(shallower)
      (reader.pointee.least, reader.pointee.observed) = (.infinity, 0)
    }
  }

  private func deepen(to seconds: Double) {
    setTarget(min(depth.longest, seconds))
    if reader.pointee.isReduced {
      // The last reduction was too early, so observe more reads before the next one.
      reader.pointee.patience = min(Self.longestObservation, 2 * reader.pointee.patience)
      reader.pointee.isReduced = false
    }
    (reader.pointee.least, reader.pointee.observed) = (.infinity, 0)
    reader.pointee.sinceIncrease = 0
  }

  private func setTarget(_ seconds: Double) {
    target.store(seconds.bitPattern, ordering: .relaxed)
  }

  private func move(to position: Double) {
    reader.pointee.position = position
    taken.store(Int(position), ordering: .relaxed)
  }

  /// Starts the sound if enough frames are waiting: the target and, in an adaptive buffer, at least
  /// `reserve` more than the `frameCount` frames of the next read. Skips the frames beyond this
  /// number, unless `Depth.excess` is infinite. Returns the number of frames that wait afterwards.
  private func prime(_ waiting: Int, _ frameCount: Int) -> Int {
    var wanted = Int(targetSeconds * sampleRate)
    // At the start, a sound server may fill a long queue with one read, which must leave `reserve`.
    if isAdaptive { wanted = max(wanted, frameCount + Int(Self.reserve * sampleRate)) }
    guard waiting >= wanted else { return waiting }
    reader.pointee.isPrimed = true
    (reader.pointee.sounding, reader.pointee.error) = (0, 0)
    guard depth.excess.isFinite else { return waiting }
    move(to: reader.pointee.position + Double(waiting - wanted))
    return wanted
  }

  private func pause() {
    reader.pointee.isPrimed = false
    interruptions.add(1, ordering: .relaxed)
    if isAdaptive { deepen(to: targetSeconds * Self.growth) }
  }

  /// Skips the frames that wait in excess of the target. Returns the number of frames that wait
  /// afterwards.
  private func dropExcess(_ waiting: Int) -> Int {
    let excess = max(0, waiting - Int(targetSeconds * sampleRate))
    move(to: reader.pointee.position + Double(excess))
    (reader.pointee.sounding, reader.pointee.error) = (0, 0)
    return waiting - excess
  }

  /// Updates the controller. Returns the resampling ratio: the number of written frames for each
  /// frame that `read` returns.
  private func ratio(waiting: Int, frameCount: Int) -> Double {
    let time = Double(frameCount) / sampleRate
    let error =
      reader.pointee.error
      + (Double(waiting) / sampleRate - targetSeconds - reader.pointee.error)
      * min(1, time / Self.smoothing)
    let limit = Self.largestDeviation
    reader.pointee.error = error
    reader.pointee.sum = max(
      -limit, min(limit, reader.pointee.sum + Self.integral * error * time))
    return 1 + max(-limit, min(limit, Self.proportional * error + reader.pointee.sum))
  }

  /// Fades in when the sound begins and after an excess was dropped, unless `Depth.excess` is
  /// infinite.
  private func fade(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
    let length = Int(Self.fadeSeconds * sampleRate)
    let done = reader.pointee.sounding
    reader.pointee.sounding = min(done + count, length)
    guard done < length, depth.excess.isFinite else { return }
    for frame in 0..<min(count, length - done) {
      let gain = Float(done + frame) / Float(length)
      for channel in 0..<channelCount { samples[frame * channelCount + channel] *= gain }
    }
  }

  /// Computes one frame from the four nearest frames by cubic Hermite interpolation.
  private func interpolate(at position: Double, into output: UnsafeMutablePointer<Float>) {
    let first = Int(position)
    let t = Float(position - Double(first))
    let (a, b) = (frame(first - 1), frame(first))
    let (c, d) = (frame(first + 1), frame(first + 2))
    for channel in 0..<channelCount {
      let slope = (c[channel] - a[channel]) / 2
      let nextSlope = (d[channel] - b[channel]) / 2
      let rise = c[channel] - b[channel]
      let cubic = slope + nextSlope - 2 * rise
      let square = rise - slope - cubic
      output[channel] = b[channel] + t * (slope + t * (square + t * cubic))
    }
  }

  private func frame(_ index: Int) -> UnsafeMutablePointer<Float> {
    ring + index % Self.capacity * channelCount
  }
}
