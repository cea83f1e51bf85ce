// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Testing

@Suite struct PrintingTests {
  @Test(arguments: [0, 1, 2999, 3000]) func ordinaryMessagesAreKept(count: Int) {
    let text = String(repeating: "é", count: count)
    #expect(shortened(text) == text)
  }

  @Test(arguments: [3001, 5000, 1_000_000]) func longMessagesLoseTheirMiddle(count: Int) {
    let text = "cannot open '" + String(repeating: "x", count: count) + "': no such file"
    let short = shortened(text)
    #expect(short.hasPrefix("cannot open 'xxx"))
    #expect(short.hasSuffix("xxx': no such file"))
    #expect(short.contains("x ... x"))
    #expect(short.count == 2505)
  }
}
