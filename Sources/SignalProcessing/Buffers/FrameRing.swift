// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A queue of planar audio frames between one producing and one consuming thread.
///
/// After a `flush`, the next `read` or `discard` drops all frames written before the flush and
/// updates `generation`.
///
/// ## Threading
/// One thread at a time may write and flush, and one thread at a time may read and discard. All
/// operations are wait-free. Any thread may read `fill`.
public final class FrameRing: @unchecked Sendable {
  public let channelCount: Int
  /// The maximum number of frames in the queue.
  public let capacity: Int

  /// The memory of `written`, `taken`, `mark` and `seenGeneration`. Each value has its own 128
  /// bytes because some processors fetch cache lines in pairs.
  private let memory: UnsafeMutableRawPointer
  private let written: UnsafeMutablePointer<Atomic<Int>>
  private let taken: UnsafeMutablePointer<Atomic<Int>>
  /// The generation (16 bits) and the index of its first frame (48 bits) in one word.
  private let mark: UnsafeMutablePointer<Atomic<UInt64>>
  /// The generation that the consumer saw last. Only the consumer uses it.
  private let seenGeneration: UnsafeMutablePointer<Int>
  /// The samples, channels x capacity.
  private let samples: UnsafeMutablePointer<Float>

  private static var spacing: Int { 128 }

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - channelCount: the number of channels, 1 or more.
  ///   - capacity: the maximum number of frames, 1 or more.
  public init(channelCount: Int, capacity: Int) {
    precondition(channelCount > 0 && capacity > 0)
    self.channelCount = channelCount
    self.capacity = capacity
    memory = .allocate(byteCount: 4 * Self.spacing, alignment: Self.spacing)
    written = memory.bindMemory(to: Atomic<Int>.self, capacity: 1)
    taken = (memory + Self.spacing).bindMemory(to: Atomic<Int>.self, capacity: 1)
    mark = (memory + 2 * Self.spacing).bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    seenGeneration = (memory + 3 * Self.spacing).bindMemory(to: Int.self, capacity: 1)
    written.initialize(to: Atomic(0))
    taken.initialize(to: Atomic(0))
    mark.initialize(to: Atomic(0))
    seenGeneration.initialize(to: 0)
    samples = .allocate(capacity: channelCount * capacity)
    samples.initialize(repeating: 0, count: channelCount * capacity)
  }

  deinit {
    memory.deallocate()
    samples.deallocate()
  }

  /// The number of frames waiting to be read, not counting flushed frames.
  public var fill: Int {
    @_noLocks get {
      let begin = Int(mark.pointee.load(ordering: .acquiring) & 0xffff_ffff_ffff)
      let end = written.pointee.load(ordering: .acquiring)
      return max(0, min(capacity, end - max(taken.pointee.load(ordering: .acquiring), begin)))
    }
  }

  /// The number of frames written since `init`, for the producer only.
  public var writtenFrames: Int {
    @_noLocks get { written.pointee.load(ordering: .relaxed) }
  }

  /// The number of frames read or dropped since `init`, for the consumer only.
  public var takenFrames: Int {
    @_noLocks get { taken.pointee.load(ordering: .relaxed) }
  }

  /// The number of frames that can be written, for the producer only. Flushed frames occupy space
  /// until the next `read` or `discard`.
  public var room: Int {
    @_noLocks get {
      let used =
        written.pointee.load(ordering: .relaxed) - taken.pointee.load(ordering: .acquiring)
      return max(0, min(capacity, capacity - used))
    }
  }

  /// Appends as many frames as fit. For the producer only.
  ///
  /// - Parameters:
  ///   - channels: `channelCount` pointers.
  ///   - offset: the index of the first frame to take.
  ///   - frames: the number of frames to append.
  /// - Returns: the number of frames appended, 0 to `frames`.
  @_noLocks
  @discardableResult
  public func write(
    from channels: UnsafePointer<UnsafeMutablePointer<Float>>, at offset: Int = 0, frames: Int
  ) -> Int {
    let count = min(frames, room)
    guard count > 0 else { return 0 }
    let end = written.pointee.load(ordering: .relaxed)
    let first = end % capacity
    let untilWrap = min(count, capacity - first)
    for c in 0..<channelCount {
      let source = channels[c] + offset
      let ring = samples + c * capacity
      copyFrames(source, ring + first, untilWrap)
      copyFrames(source + untilWrap, ring, count - untilWrap)
    }
    written.pointee.store(end + count, ordering: .releasing)
    return count
  }

  /// Invalidates all frames written so far and begins a new generation. For the producer only.
  ///
  /// - Returns: the new generation, 0 to 65,535; 0 follows 65,535.
  @_noLocks
  @discardableResult
  public func flush() -> Int {
    let generation = ((mark.pointee.load(ordering: .relaxed) >> 48) + 1) & 0xffff
    let begin = UInt64(written.pointee.load(ordering: .relaxed)) & 0xffff_ffff_ffff
    mark.pointee.store(generation << 48 | begin, ordering: .releasing)
    return Int(generation)
  }

  /// The generation that the last `read` or `discard` saw. For the consumer only.
  public var generation: Int {
    @_noLocks get { seenGeneration.pointee }
  }

  /// Takes the oldest frames of the newest generation. For the consumer only.
  ///
  /// - Parameters:
  ///   - channels: `channelCount` pointers.
  ///   - offset: the index of the first frame to fill.
  ///   - frames: the number of frames requested.
  /// - Returns: the number of frames read, 0 to `frames`; the samples after them are unchanged.
  @_noLocks
  public func read(
    into channels: UnsafePointer<UnsafeMutablePointer<Float>>, at offset: Int = 0, frames: Int
  ) -> Int {
    let begin = dropStale()
    let count = min(frames, written.pointee.load(ordering: .acquiring) - begin)
    guard count > 0 else { return 0 }
    let first = begin % capacity
    let untilWrap = min(count, capacity - first)
    for c in 0..<channelCount {
      let destination = channels[c] + offset
      let ring = samples + c * capacity
      copyFrames(ring + first, destination, untilWrap)
      copyFrames(ring, destination + untilWrap, count - untilWrap)
    }
    taken.pointee.store(begin + count, ordering: .releasing)
    return count
  }

  /// Drops at most `frames` frames of the newest generation, oldest first. For the consumer only.
  /// Returns the number of dropped frames.
  @_noLocks
  @discardableResult
  public func discard(frames: Int) -> Int {
    let begin = dropStale()
    let count = max(0, min(frames, written.pointee.load(ordering: .acquiring) - begin))
    taken.pointee.store(begin + count, ordering: .releasing)
    return count
  }

  /// Drops the frames of earlier generations. Returns the index of the next frame, counted since
  /// `init`.
  @_noLocks
  private func dropStale() -> Int {
    let marked = mark.pointee.load(ordering: .acquiring)
    seenGeneration.pointee = Int(marked >> 48)
    let old = taken.pointee.load(ordering: .relaxed)
    let begin = max(old, Int(marked & 0xffff_ffff_ffff))
    if begin > old { taken.pointee.store(begin, ordering: .releasing) }
    return begin
  }
}
