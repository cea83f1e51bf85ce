// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct PercentEncodingTests {
  @Test(arguments: [("a%20b", "a b"), ("%C3%a9", "é"), ("", ""), ("100%25", "100%")])
  func validEncodingsDecode(text: String, decoded: String) {
    #expect(text.percentDecoded == decoded)
  }

  @Test(arguments: ["%", "%4", "%4g", "%+A", "%-0", "%00", "%ff", "%é"])
  func invalidEncodingsAreNil(text: String) { #expect(text.percentDecoded == nil) }
}
