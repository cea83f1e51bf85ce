// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// How a profile's samples are packed into MIDI messages.
package enum MIDIFraming: Sendable, Equatable {
  /// SysEx messages that begin with `prefix` and are `length` bytes long; if `length` is nil, they
  /// have any length. A prefix begins with `F0`, or is empty. A frame is the complete message, from
  /// `F0` to `F7`.
  case systemExclusive(prefix: [UInt8], length: Int?)
  /// Control changes. A frame has two bytes for each pair, the upper 7 bits first. There are no
  /// frames until every pair has been received once.
  case controllers([ControllerPair], quietNanoseconds: Int64 = 1_000_000)
}

/// Decodes the frames that `MIDIFrames` extracts from MIDI messages.
package protocol MIDIFrameDecoder: Sendable {
  /// Decodes a frame to readings, oldest first; nil if it is invalid.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]?
}

/// The protocol of a tracker that a profile describes.
package struct MIDIFrames<Decoder: MIDIFrameDecoder>: MIDITrackerProtocol {
  package let startMessages: [[UInt8]]
  package let startDelay: Int64
  package let keepAlive: (messages: [[UInt8]], period: Int64)?
  package let stopMessages: [[UInt8]]
  package let silenceLimit: Int64?
  private let framing: MIDIFraming
  private var controllers: ControllerFrames
  private var decoder: Decoder

  package init(
    _ framing: MIDIFraming, startMessages: [[UInt8]] = [], startDelay: Int64 = 0,
    keepAlive: (messages: [[UInt8]], period: Int64)? = nil, stopMessages: [[UInt8]] = [],
    silenceLimit: Int64? = nil, decoder: Decoder
  ) {
    (self.framing, self.startDelay, self.keepAlive) = (framing, startDelay, keepAlive)
    (self.startMessages, self.stopMessages) = (startMessages, stopMessages)
    (self.silenceLimit, self.decoder) = (silenceLimit, decoder)
    if case .controllers(let pairs, let quiet) = framing {
      controllers = ControllerFrames(pairs, quietNanoseconds: quiet)
    } else {
      controllers = ControllerFrames([])
    }
  }

  package var due: Int64? { controllers.due }

  package mutating func decode(_ message: MIDIMessage, arrival: Int64) -> [TrackerReading]? {
    switch (framing, message) {
    case (.systemExclusive(let prefix, let length), .systemExclusive(let bytes)):
      guard length.map({ $0 == bytes.count }) ?? true, bytes.starts(with: prefix) else {
        return []
      }
      return decoder.decode(bytes, arrival: arrival)
    case (.controllers, _):
      switch controllers.take(message, arrival: arrival) {
      case .nothing: return []
      case .ended(let frame): return readings(frame)
      case .damaged: return nil
      }
    default: return []
    }
  }

  package mutating func advance(now: Int64) -> [TrackerReading]? {
    controllers.ended(by: now).map { readings($0) } ?? []
  }

  private mutating func readings(_ frame: ControllerFrames.Frame) -> [TrackerReading]? {
    let values = frame.values.compactMap(\.self)
    guard values.count == frame.values.count else { return [] }
    let bytes = values.flatMap { [UInt8($0 >> 7), UInt8($0 & 127)] }
    return decoder.decode(bytes, arrival: frame.time)
  }
}
