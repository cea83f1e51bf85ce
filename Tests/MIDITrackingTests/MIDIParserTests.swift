// SPDX-License-Identifier: Apache-2.0

import System
import TestSupport
import Testing

@testable import MIDITracking

/// Splits streams of MIDI bytes into messages.
@Suite struct MIDIParserTests {
  private func parse(_ text: String) -> (messages: [MIDIMessage], rejectedCount: Int) {
    var parser = MIDIParser()
    return parser.parse(hex(text))
  }

  private func change(_ controller: UInt8, _ value: UInt8) -> MIDIMessage {
    .channel(status: 0xB0, first: controller, second: value)
  }

  @Test("A message may omit its status byte, until a system message")
  func runningStatus() {
    #expect(
      parse("B0 30 7E 10 7F C3 05 06 90 3C").messages == [
        change(0x30, 0x7E), change(0x10, 0x7F), .channel(status: 0xC3, first: 5, second: 0),
        .channel(status: 0xC3, first: 6, second: 0),
      ])
    #expect(parse("B0 30 7E F2 10 7F 31 01").messages == [change(0x30, 0x7E)])
    #expect(parse("10 7F 30 B0 31 01").messages == [change(0x31, 1)])
  }

  @Test("Real-time bytes are skipped anywhere, also within a SysEx message and a control change")
  func realTime() {
    let (messages, rejected) = parse("F8 F0 00 F8 21 FE 42 FF 40 F7 B0 FA 30 FB 7E FC")
    #expect(messages == [.systemExclusive(hex("F0 00 21 42 40 F7")), change(0x30, 0x7E)])
    #expect(rejected == 0)
  }

  @Test("A SysEx message without its end is counted, and the next message is complete")
  func lostEnd() {
    let next = hex("F0 00 21 42 41 F7")
    #expect(parse("F0 00 21 F0 00 21 42 41 F7").messages == [.systemExclusive(next)])
    #expect(parse("F0 00 21 F0 00 21 42 41 F7").rejectedCount == 1)
    let other = parse("F0 00 21 B0 30 7E F7")
    #expect(other.messages == [change(0x30, 0x7E)] && other.rejectedCount == 1)
  }

  @Test("A SysEx message of any length takes bounded memory, and one that is too long is counted")
  func length() {
    var parser = MIDIParser()
    let longest = [0xF0] + [UInt8](repeating: 1, count: MIDIParser.lengthLimit - 2) + [0xF7]
    #expect(parser.parse(longest).messages == [.systemExclusive(longest)])
    _ = parser.parse([0xF0])
    for _ in 0..<1000 {
      #expect(parser.parse([UInt8](repeating: 1, count: 1000)).messages.isEmpty)
      #expect(parser.exclusive.count < MIDIParser.lengthLimit)
    }
    let (messages, rejected) = parser.parse(hex("F7 F0 01 F7"))
    #expect(messages == [.systemExclusive(hex("F0 01 F7"))] && rejected == 1)
  }

  @Test("Packets that are split or merged in any way give the same messages")
  func splits() {
    var generator = SeededGenerator.forTest()
    let bytes = hex("F0 00 21 42 40 01 10 00 F7 B0 30 7E 10 7F F0 01 F8 02 B0 31 01 F7 F0 05 F7")
    var whole = MIDIParser()
    let expected = whole.parse(bytes)
    #expect(expected.messages.count == 5 && expected.rejectedCount == 1)
    for _ in 0..<500 {
      var parser = MIDIParser()
      var (messages, rejected): ([MIDIMessage], Int) = ([], 0)
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...8, using: &generator)
        let found = parser.parse(rest.prefix(count))
        messages += found.messages
        rejected += found.rejectedCount
        rest = rest.dropFirst(count)
      }
      #expect(messages == expected.messages && rejected == expected.rejectedCount)
    }
  }

  @Test("Control changes tell channel, controller and value")
  func controlChanges() throws {
    let found = try #require(
      MIDIMessage.channel(status: 0xBF, first: 16, second: 127).controlChange)
    #expect(found == (16, 16, 127))
    #expect(MIDIMessage.channel(status: 0x90, first: 60, second: 1).controlChange == nil)
  }
}
