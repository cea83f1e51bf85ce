// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
private import Synchronization

/// Passes blocks and events from the capture thread to the writing thread.
final class CaptureFeed: SourceCapture.Receiver {
  private let ring: BlockRing
  /// The events whose records are in the ring, in the same order.
  private let events = Mutex<[SourceCaptureEvent]>([])

  /// Passes the sound to a listener; nil unless `RecorderConfiguration.canBeMonitored` is true.
  private let live: LiveFeed?

  /// Creates a feed with an empty buffer of `bytes` bytes, but at least 1 KiB.
  init(bytes: Int, live: LiveFeed? = nil) {
    ring = BlockRing(bytes: bytes)
    self.live = live
  }

  /// The used fraction of the buffer, 0 to 1.
  var fill: Double { ring.fill }

  func receive(_ block: SourceBlock) {
    var header = BlockRing.Header()
    header.kind = block.samples == nil ? .hole : .block
    header.channels = Int32(block.channelCount)
    header.frames = Int32(block.frameCount)
    header.arrival = block.arrivalTimeNanoseconds
    ring.write(header, block.samples)
    live?.receive(block)
  }

  func receive(_ event: SourceCaptureEvent, timeNanoseconds: Int64) {
    live?.receive(event)
    var header = BlockRing.Header()
    header.kind = .event
    header.arrival = timeNanoseconds
    // Store the event before its record, because the reader may take the record at once.
    events.withLock { $0.append(event) }
    if !ring.write(header) { events.withLock { _ = $0.removeLast() } }
  }

  var pendingEvents: Int { events.withLock { $0.count } }

  /// Takes the oldest record. Returns its header and, for an event, the event; nil if the buffer is
  /// empty. For a block, copies the samples to the start of `samples`.
  func read(
    into samples: inout [Float]
  ) -> (header: BlockRing.Header, event: SourceCaptureEvent?)? {
    guard let header = ring.read(into: &samples) else { return nil }
    guard header.kind == .event else { return (header, nil) }
    return (header, events.withLock { $0.removeFirst() })
  }
}
