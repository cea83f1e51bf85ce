// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CommandSupport

@Suite struct KeyDecoderTests {
  private func keys(_ parts: String...) -> [Console.Key] {
    var decoder = KeyDecoder()
    return parts.flatMap { decoder.keys(in: $0.utf8) }
  }

  @Test(arguments: [
    (" ", Console.Key.pause), ("p", .pause), ("\u{1B}[A", .louder), ("\u{1B}OB", .softer),
    ("\u{1B}[C", .forward), ("\u{1B}OD", .back), ("\u{1B}[5~", .forwardMinute),
    ("\u{1B}[6~", .backMinute), ("m", .mute), ("c", .recenter), ("t", .mode), ("d", .decoder),
    ("h", .hrtf), ("1", .order(1)), ("7", .order(7)), ("x", .mixStyle), (",", .lessMix),
    (".", .moreMix), ("?", .help), ("q", .quit), ("n", .next), ("=", .plus), ("-", .minus),
    ("\r", .enter), ("8", .other("8")), ("z", .other("z")), ("é", .other("é")),
    ("\u{1B}[H", .other("Home")), ("\t", .other("Tab")),
  ])
  func eachKeyHasItsFunction(text: String, key: Console.Key) {
    #expect(keys(text) == [key])
    #expect(keys(text + "q") == [key, .quit])
  }

  @Test func aSequenceMayArriveInParts() {
    #expect(keys("\u{1B}", "[", "5", "~q") == [.forwardMinute, .quit])
    #expect(keys("a\u{1B}[", "Ac") == [.other("a"), .louder, .recenter])
  }

  @Test func anUnknownSequenceIsOneIgnoredKey() {
    #expect(keys("\u{1B}[1;5Aq") == [.quit])
    #expect(keys("\u{1B}[15~q") == [.quit])
    #expect(keys("\u{1B}[<0;10;5Mq") == [.quit])
  }

  @Test func theEscapeKeyIsKnownWhenNothingFollows() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: [0x1B]).isEmpty)
    #expect(decoder.finish() == .escape)
    #expect(decoder.finish() == nil)
    #expect(decoder.keys(in: "q".utf8) == [.quit])
  }
}
