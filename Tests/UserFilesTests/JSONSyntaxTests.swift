// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import UserFiles

@Suite struct JSONSyntaxTests {
  @Test(arguments: [
    ("{\n  \"order\": 3,\n  \"gain\" -6\n}", 3, 10), ("", 1, 1), ("{", 1, 2),
    ("{\"a\": 1,}", 1, 9), ("[1, 2", 1, 6), ("{\"a\": tru}", 1, 10), ("{\"ü\": x}", 1, 7),
    ("{\"a\": 1}\n\n x", 3, 2), ("{\"a\": \"b\n\"}", 1, 9), ("{\"a\": 01}", 1, 8),
    ("{'a': 1}", 1, 2), ("{\"a\": \"\\x\"}", 1, 9), ("{\"a\": -}", 1, 8), ("{\"a\": 1.}", 1, 9),
  ])
  func theFirstErrorHasItsPlace(text: String, line: Int, column: Int) {
    #expect(
      JSONSyntax.error(in: Array(text.utf8)) == JSONSyntax.Place(line: line, column: column))
  }

  @Test(arguments: [
    "{}", " [ ] ", "{\"a\": [1, -2.5e+3, 0.1E-2, true, false, null, \"\\u00e9\\n\\\"\"]}\n", "0",
  ])
  func correctTextHasNoError(text: String) throws {
    #expect(JSONSyntax.error(in: Array(text.utf8)) == nil)
  }

  @Test func theMessageNamesTheLine() throws {
    let bytes = Array("{\n  \"order\": 3\n  \"gain\": -6\n}\n".utf8)
    let error = try #require(throws: UserFileError.self) {
      _ = try JSONFile.decode([String: Int].self, bytes, path: "config.json")
    }
    #expect("\(error)".contains("it is not valid JSON (line 3, column 3)"), "\(error)")
  }
}
