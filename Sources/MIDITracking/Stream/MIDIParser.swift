// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of MIDI bytes into messages. A message may span several calls of `parse`.
///
/// Real-time bytes (`F8` to `FF`) may be anywhere and are skipped. A message may omit its status
/// byte if the previous message had the same one (running status). A SysEx message without its `F7`
/// ends at the next status byte and is invalid. Source: MIDI 1.0 Detailed Specification, 4.2.
package struct MIDIParser: Sendable {
  /// Maximum length of a SysEx message, from `F0` to `F7`, in bytes; longer ones are skipped.
  package static let lengthLimit = 512

  /// The bytes of a SysEx message that has not ended yet, or its first bytes if it is too long.
  /// Empty outside SysEx messages.
  private(set) var exclusive: [UInt8] = []
  /// Whether the SysEx message is skipped, because it is too long.
  private var isTooLong = false
  /// The status byte of the latest channel message. It also applies to data bytes without a status
  /// byte. It is 0 before the first channel message and after a system message that is not a
  /// real-time byte.
  private var status: UInt8 = 0
  private var first: UInt8?

  package init() {}

  /// Returns the messages that these bytes complete, oldest first, and the number of SysEx messages
  /// that are damaged or too long.
  package mutating func parse(
    _ bytes: some Sequence<UInt8>
  ) -> (messages: [MIDIMessage], rejectedCount: Int) {
    var messages: [MIDIMessage] = []
    var rejected = 0
    for byte in bytes {
      switch byte {
      case 0xF8...0xFF: continue
      case 0xF7: end(&messages, &rejected)
      case 0x80...0xF6:
        if !exclusive.isEmpty { rejected += 1 }
        begin(byte)
      default: take(byte, &messages)
      }
    }
    return (messages, rejected)
  }

  private mutating func begin(_ byte: UInt8) {
    (exclusive, isTooLong, first) = ([], false, nil)
    // System messages other than SysEx are skipped with their data.
    status = byte < 0xF0 ? byte : 0
    if byte == 0xF0 { exclusive = [byte] }
  }

  private mutating func end(_ messages: inout [MIDIMessage], _ rejected: inout Int) {
    if isTooLong {
      rejected += 1
    } else if !exclusive.isEmpty {
      messages.append(.systemExclusive(exclusive + [0xF7]))
    }
    begin(0xF7)
  }

  private mutating func take(_ byte: UInt8, _ messages: inout [MIDIMessage]) {
    if !exclusive.isEmpty {
      guard exclusive.count < Self.lengthLimit - 1 else {
        isTooLong = true
        return
      }
      exclusive.append(byte)
    } else if status != 0 {
      let isShort = status & 0xE0 == 0xC0
      if let first {
        messages.append(.channel(status: status, first: first, second: byte))
        self.first = nil
      } else if isShort {
        messages.append(.channel(status: status, first: byte, second: 0))
      } else {
        first = byte
      }
    }
  }
}
