// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// A queue of recorded blocks and events between two threads.
///
/// ## Threading
/// One thread may write, and another may read. Neither uses locks, and writing does not allocate
/// memory. Any thread may read `fill`.
final class BlockRing: @unchecked Sendable {
  /// The start of a record in the ring. In the record of a block, the samples follow.
  struct Header {
    enum Kind: Int32 { case block, hole, event }

    var kind = Kind.block
    var channels: Int32 = 0
    var frames: Int32 = 0
    /// The sample rate of the source [Hz]; 0 if it is unknown. Only `LiveFeed` sets it.
    var sampleRate: Int32 = 0
    /// The number of frames that were dropped between the previous record and this one.
    var droppedFrames: Int64 = 0
    /// The time of arrival on CLOCK_MONOTONIC, in nanoseconds. `LiveFeed` does not set it.
    var arrival: Int64 = 0
    /// The position of the block's first frame in the recording, in frames. Only `BlockDelivery`
    /// sets it.
    var position: Int64 = 0

    fileprivate var payload: Int { kind == .block ? Int(frames) * Int(channels) * 4 : 0 }
    /// The size of the record in bytes, a multiple of 8.
    fileprivate var size: Int { MemoryLayout<Header>.stride + (payload + 7) & ~7 }
  }

  private let capacity: Int
  private let memory: UnsafeMutableRawPointer
  private let written = Atomic(0)
  private let taken = Atomic(0)
  /// The number of bytes that only events may use.
  private let eventReserve: Int
  /// The number of frames dropped since the last written record. Only the writing thread uses it.
  private var dropped: Int64 = 0

  /// Creates an empty ring with a capacity of at least `bytes`.
  init(bytes: Int) {
    capacity = (max(bytes, 1024) + 7) & ~7
    eventReserve = min(capacity / 4, 1 << 14)
    memory = .allocate(byteCount: capacity, alignment: 8)
    // Touch every page, so that the capture thread does not wait for memory.
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
  }

  deinit { memory.deallocate() }

  /// The used fraction of the ring, 0 to 1.
  var fill: Double {
    Double(written.load(ordering: .relaxed) - taken.load(ordering: .relaxed)) / Double(capacity)
  }

  /// Appends a record, or counts its frames as dropped if there is not enough space.
  ///
  /// After a drop, blocks and holes are dropped until a quarter of the ring is free or an event has
  /// been written.
  ///
  /// - Parameter samples: frames x channels; only for blocks.
  /// - Returns: false if the record was dropped.
  @discardableResult
  func write(_ header: Header, _ samples: UnsafePointer<Float>? = nil) -> Bool {
    var header = header
    let end = written.load(ordering: .relaxed)
    let room = capacity - (end - taken.load(ordering: .acquiring))
    // One long gap is better than many short ones.
    if dropped > 0, header.kind != .event, room < capacity / 4 {
      dropped += Int64(header.frames)
      return false
    }
    guard header.size <= (header.kind == .event ? room : room - eventReserve) else {
      dropped += Int64(header.frames)
      return false
    }
    header.droppedFrames = dropped
    dropped = 0
    withUnsafeBytes(of: header) {
      if let base = $0.baseAddress { copyIn(base, at: end, count: MemoryLayout<Header>.size) }
    }
    if let samples, header.payload > 0 {
      copyIn(samples, at: end + MemoryLayout<Header>.stride, count: header.payload)
    }
    written.store(end + header.size, ordering: .releasing)
    return true
  }

  /// Takes the oldest record and copies its samples to the start of `samples`, which grows if
  /// necessary. Returns nil if the ring is empty.
  func read(into samples: inout [Float]) -> Header? {
    let begin = taken.load(ordering: .relaxed)
    guard written.load(ordering: .acquiring) > begin else { return nil }
    var header = Header()
    withUnsafeMutableBytes(of: &header) {
      if let base = $0.baseAddress { copyOut(base, at: begin, count: MemoryLayout<Header>.size) }
    }
    if header.payload > 0 {
      let count = header.payload / 4
      if samples.count < count { samples = [Float](repeating: 0, count: count) }
      samples.withUnsafeMutableBytes {
        if let base = $0.baseAddress {
          copyOut(base, at: begin + MemoryLayout<Header>.stride, count: header.payload)
        }
      }
    }
    taken.store(begin + header.size, ordering: .releasing)
    return header
  }

  private func copyIn(_ source: UnsafeRawPointer, at position: Int, count: Int) {
    let first = position % capacity
    let untilWrap = min(count, capacity - first)
    (memory + first).copyMemory(from: source, byteCount: untilWrap)
    memory.copyMemory(from: source + untilWrap, byteCount: count - untilWrap)
  }

  private func copyOut(_ target: UnsafeMutableRawPointer, at position: Int, count: Int) {
    let first = position % capacity
    let untilWrap = min(count, capacity - first)
    target.copyMemory(from: memory + first, byteCount: untilWrap)
    (target + untilWrap).copyMemory(from: memory, byteCount: count - untilWrap)
  }
}
