// SPDX-License-Identifier: Apache-2.0

private import Synchronization
internal import System

/// Frames of a recording, for a receiver that must not delay the recording. The samples are valid
/// only during the call to the receiver.
public struct DeliveredBlock {
  /// The samples, frames x channels, with full scale 1.
  public let samples: UnsafePointer<Float>
  public let frames: Int
  public let channelCount: Int
  /// The position of the block's first frame in the recording, in frames.
  public let position: Int64
  /// The approximate time, in CLOCK_MONOTONIC nanoseconds, at which the block's last frame arrived
  /// or was replaced with silence.
  public let timeNanoseconds: Int64
  /// The number of frames dropped directly before this block because the receiver was too slow.
  public let droppedFrames: Int
}

/// Calls a receiver with the recorded frames, on a separate thread.
///
/// The queue between the recording and the receiver has a fixed size. If the receiver is too slow,
/// it misses frames, which `droppedFrames` counts; the recording loses nothing.
///
/// ## Threading
/// Any thread may use the public members.
public final class BlockDelivery: Sendable {
  public typealias Receiver = @Sendable (DeliveredBlock) -> Void

  /// The queue and the state that the recording and the receiver's thread share.
  private final class Queue: Sendable {
    let ring: BlockRing
    let dropped = Atomic<Int64>(0)
    let hasEnded = Atomic(false)
    init(bytes: Int) { ring = BlockRing(bytes: bytes) }
  }

  private let queue: Queue
  private let worker = Worker()
  private let scratch = Mutex<[Float]>([])

  /// Starts the receiver's thread.
  ///
  /// - Parameter queueSeconds: the size of the queue, in seconds of 8-channel sound at 48 kHz.
  init(queueSeconds: Double, to receive: @escaping Receiver) {
    let queue = Queue(bytes: Int(queueSeconds * 8 * 48_000 * 4))
    self.queue = queue
    worker.start { [worker] in
      var samples: [Float] = []
      while true {
        let isLast = queue.hasEnded.load(ordering: .acquiring)
        while let header = queue.ring.read(into: &samples) { Self.pass(header, samples, receive) }
        if isLast || worker.isStopped { return }
        worker.sleep(milliseconds: 200)
      }
    }
  }

  /// The number of frames that the receiver has missed.
  public var droppedFrames: Int { Int(queue.dropped.load(ordering: .relaxed)) }

  private static func pass(
    _ header: BlockRing.Header, _ samples: [Float], _ receive: Receiver
  ) {
    samples.withUnsafeBufferPointer {
      guard let start = $0.baseAddress, header.frames > 0 else { return }
      receive(
        DeliveredBlock(
          samples: start, frames: Int(header.frames), channelCount: Int(header.channels),
          position: header.position, timeNanoseconds: header.arrival,
          droppedFrames: Int(header.droppedFrames)))
    }
  }

  /// Queues frames, or counts them as dropped if the queue is full. Never waits for the receiver.
  func add(_ block: RecordedBlock) {
    let channels = block.channelCount
    scratch.withLock { scratch in
      let count = block.frames * channels
      if scratch.count < count { scratch = [Float](repeating: 0, count: count) }
      for channel in 0..<channels {
        let plane = block.planes[channel]
        for frame in 0..<block.frames { scratch[frame * channels + channel] = plane[frame] }
      }
      var header = BlockRing.Header()
      (header.channels, header.frames) = (Int32(channels), Int32(block.frames))
      (header.arrival, header.position) = (block.timeNanoseconds, block.position)
      let isQueued = scratch.withUnsafeBufferPointer { queue.ring.write(header, $0.baseAddress) }
      if !isQueued { queue.dropped.add(Int64(block.frames), ordering: .relaxed) }
    }
    worker.wake()
  }

  /// Ends the delivery. Waits until the receiver has taken the queued frames, but at most one
  /// second.
  public func stop() {
    queue.hasEnded.store(true, ordering: .releasing)
    worker.wake()
    worker.stop(withinMilliseconds: 1000)
  }
}
