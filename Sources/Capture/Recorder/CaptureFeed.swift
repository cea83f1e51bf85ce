// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
private import Synchronization

/// Passes blocks and events from the capture thread to the writing thread.
final class CaptureFeed: SourceCapture.Receiver {
  private let ring: BlockRing
  /// The events whose records are in the ring, in the same order.
  private let events = Mutex<[SourceCaptureEvent]>([])

  /// Passes the sound to a listener; nil if the configuration does not permit one.
  private let live: LiveFeed?

  /// Creates an empty buffer with a capacity in bytes.
  init(bytes: Int, live: LiveFeed? = nil) {
    ring = BlockRing(bytes: bytes)
    self.live = live
  }

  /// The used part of the buffer, 0 to 1.
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
    // The event is stored before its record, because the reader may take the record at once.
    events.withLock { $0.append(event) }
    if !ring.write(header) { events.withLock { _ = $0.removeLast() } }
  }

  var pendingEvents: Int { events.withLock { $0.count } }

  /// Takes the oldest record and, if the record is an event, that event. Returns nil if the buffer
  /// is empty.
  func read(
    into samples: inout [Float]
  ) -> (header: BlockRing.Header, event: SourceCaptureEvent?)? {
    guard let header = ring.read(into: &samples) else { return nil }
    guard header.kind == .event else { return (header, nil) }
    return (header, events.withLock { $0.removeFirst() })
  }
}
