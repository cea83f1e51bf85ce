// SPDX-License-Identifier: Apache-2.0

/// A complete MIDI message of a kind that trackers use.
package enum MIDIMessage: Sendable, Equatable {
  /// A message on one of the 16 channels: the status byte and the data bytes. `second` is 0 if the
  /// message has only one data byte.
  case channel(status: UInt8, first: UInt8, second: UInt8)
  /// A system-exclusive message (SysEx), from `F0` to `F7`.
  case systemExclusive([UInt8])

  /// The channel (1 to 16), controller and value (0 to 127 each) of a control change; nil for any
  /// other message.
  package var controlChange: (channel: Int, controller: UInt8, value: UInt8)? {
    guard case .channel(let status, let controller, let value) = self, status & 0xF0 == 0xB0 else {
      return nil
    }
    return (Int(status & 0x0F) + 1, controller, value)
  }
}
