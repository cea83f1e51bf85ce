// SPDX-License-Identifier: Apache-2.0

import Binaural
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import UserFiles

/// Headphone profiles as text of parametric equalisers and as JSON.
@Suite struct HeadphoneFileTests {
  private func filters(_ text: String) throws -> [ParametricFilter] {
    try ParametricText.parse(text)
  }

  @Test func equaliserTextIsParsed() throws {
    let found = try filters(
      """
      # made for a test
      Preamp: -6.2 dB
      Filter 1: ON PK Fc 105 Hz Gain 5.5 dB Q 0.71
      Filter 2: OFF PK Fc 1000 Hz Gain 3 dB Q 1
      Filter 3: ON LSC Fc 80 Hz Gain -3.0 dB Q 0.70 ; a shelf
      Filter 4: ON HSC Fc 9000 Hz Gain 2 dB Q 0.5
      Channel: all
      Filter 5: ON LP Fc 18000 Hz
      Filter 6: ON HPQ Fc 20 Hz Q 1.1
      Filter 7: ON None
      """.replacing("Filter 7: ON None", with: "Filter 7: OFF None"))
    #expect(
      found == [
        .init(.peak, frequency: 105, gain: 5.5, quality: 0.71),
        .init(.lowShelf, frequency: 80, gain: -3, quality: 0.7),
        .init(.highShelf, frequency: 9000, gain: 2, quality: 0.5),
        .init(.lowPass, frequency: 18000, quality: 0.5.squareRoot()),
        .init(.highPass, frequency: 20, quality: 1.1),
      ])
  }

  @Test func equivalentEqualiserTextsParseAlike() throws {
    let truth = [ParametricFilter(.peak, frequency: 105.5, gain: 5.5, quality: 0.71)]
    for line in [
      "Filter 1: ON PK Fc 105,5 Hz Gain 5,5 dB Q 0,71", "filter: on pk fc 105.5 gain +5.5 q .71",
      "FILTER  12:\tON\tPEQ\tFc\t105.5\tHz\tGain\t5.5\tdB\tQ\t0.71",
      "Filter 1: ON PK Fc 105.5Hz Gain 5.5dB Q 0.71",
      "\u{FEFF}Filter 1: ON PK Fc 105.5 Hz Gain 5.5 dB Q 0.71\r\n\r\n",
      "// x\r\nPreamp: -3,5 dB\r\nFilter 1: ON PK Fc 105.5 Hz Gain 5.5 dB Q 0.71 # y\r\n",
    ] {
      #expect(try filters(line) == truth, "\(line)")
    }
    #expect(try filters("Filter 1: OFF PK Fc 20 Hz Gain 1 dB Q 1") == [])
    let steep = try filters("Filter: ON LSC 12 dB Fc 100 Hz Gain 6 dB")
    #expect(abs(steep[0].quality - 0.5.squareRoot()) < 1e-12)
    let wide = try filters("Filter: ON PK Fc 1000 Hz Gain 6 dB BW Oct 1")
    #expect(abs(wide[0].quality - 1.41421356) < 1e-6)
  }

  @Test(arguments: [
    ("Preamp: -3 dB\nFilter 1: ON PK Fc Hz Gain 3 dB Q 1", 2, "'Hz' of Fc is not a number"),
    ("Filter 1: ON PK Fc 100 Hz Gain 3 dB", 1, "a peak filter needs Q or BW"),
    ("\n\nFilter 1: ON PK Fc 100 Hz Q 1", 3, "gain is missing"),
    ("Filter 1: ON PK Gain 3 dB Q 1", 1, "Fc is missing"),
    ("Filter 1: ON XY Fc 100 Hz Gain 3 dB Q 1", 1, "type 'XY' is not supported"),
    ("Filter 1: ON PK Fc 100 dB Gain 3 dB Q 1", 1, "unit must be Hz, not 'db'"),
    ("Filter 1: ON PK Fc -100 Hz Gain 3 dB Q 1", 1, "not between"),
    ("Filter 1: ON PK Fc nan Hz Gain 3 dB Q 1", 1, "not a number"),
    ("Filter 1: ON PK Fc 100 Hz Gain 300 dB Q 1", 1, "not between"),
    ("Filter 1: ON PK Fc 100 Hz Gain 3 dB Q 0", 1, "not between"),
    ("Filter 1: ON", 1, "type is missing"),
    ("Filter 1: ON PK Fc 100 Hz Gain 3 dB Q 1 loud", 1, "'loud'"),
    ("GraphicEQ: 20 0; 30 1", 1, "'graphiceq' is not supported; use"),
    ("Channel: L\nFilter 1: ON PK Fc 100 Hz Gain 3 dB Q 1", 1, "Channel: all"),
    ("hello", 1, "has no ':'"), ("Preamp: x dB", 1, "not a number"),
    ("Preamp: -3 dB much", 1, "unexpected 'much'"), ("", 0, "no line that starts with 'Filter'"),
    ("# only\n# comments", 0, "no line that starts with 'Filter'"),
  ])
  func invalidTextIsRefusedWithLineAndReason(text: String, line: Int, reason: String) {
    let problem = #expect(throws: ParametricText.Problem.self) { try filters(text) }
    // The number 0 stands for a problem of the entire text.
    #expect((problem?.line ?? 0) == line)
    #expect(problem?.reason.contains(reason) ?? false, "\(String(describing: problem))")
  }

  /// Any text yields either valid filters or an error.
  @Test func randomTextGivesValidFiltersOrAnError() {
    var random = SeededGenerator.forTest()
    let words = [
      "Filter", "Filter 1", ":", ":", " ", "ON", "OFF", "PK", "LSC", "Fc", "Gain", "Q", "Hz", "dB",
      "100", "-3,5", "0", "1e400", "\n", "\r\n", "#", "nan", "Preamp", "BW", "oct", "é",
    ]
    for _ in 0..<3000 {
      let count = Int.random(in: 0...25, using: &random)
      let text = (0..<count).map { _ in words.randomElement(using: &random)! }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      guard let found = try? filters(text) else { continue }
      #expect(found.allSatisfy { $0.frequency >= 1 && $0.quality > 0 && $0.gain.isFinite })
    }
  }

  private let good = """
    {"schema": 1, "name": "Test 1", "target": "diffuse field", "filters": [
      {"type": "peak", "frequency": 105, "gain": 5.5, "q": 0.71},
      {"type": "highPass", "frequency": 20, "q": 0.7}]}
    """

  @Test func jsonProfileIsParsed() throws {
    let folder = TemporaryFolder()
    let profile = try HeadphoneFile.read(folder.write(good, to: "a.json"))
    #expect(profile.name == "Test 1" && profile.target == "diffuse field")
    #expect(
      profile.filters == [
        .init(.peak, frequency: 105, gain: 5.5, quality: 0.71),
        .init(.highPass, frequency: 20, quality: 0.7),
      ])
  }

  @Test(arguments: [
    ("\"schema\": 1", "\"schema\": 2", "it has schema 2"),
    ("\"target\": \"diffuse field\",", "", "'target' is missing"),
    ("\"peak\"", "\"bell\"", "'filters.0.type' must be one of peak, lowShelf"),
    (", \"gain\": 5.5", "", "'filters.0.gain' is missing"),
    ("\"frequency\": 105", "\"frequency\": -5", "'filters.0': frequency must be"),
    ("}]}", "}", "not valid JSON"),
  ])
  func invalidJSONIsRefusedWithTheReason(old: String, new: String, reason: String) throws {
    let folder = TemporaryFolder()
    let path = try folder.write(good.replacing(old, with: new), to: "a.json")
    let error = #expect(throws: UserFileError.self) { try HeadphoneFile.read(path) }
    #expect(error?.reason.contains(reason) ?? false, "\(String(describing: error))")
  }

  @Test func profileNamesAreFoundAndNearMatchesSuggested() throws {
    let (first, second) = (TemporaryFolder(), TemporaryFolder())
    let text = "Filter: ON PK Fc 100 Hz Gain 1 dB Q 1"
    try first.write(text, to: "Made Up 600.txt")
    try second.write(text, to: "Made Up 600.txt")
    try second.write(good, to: "Other Thing.json")
    let folders = [first.path, "/no/such/folder", second.path]
    #expect(try HeadphoneFile.find("made up 600", in: folders) == first.file("Made Up 600.txt"))
    #expect(
      try HeadphoneFile.find("Other Thing.json", in: folders) == second.file("Other Thing.json"))
    #expect(try HeadphoneFile.find("./x.txt", in: folders) == "./x.txt")
    #expect(try HeadphoneFile.read(first.file("Made Up 600.txt")).name == "Made Up 600")
    for (typed, near) in [("madeup 60", "Made Up 600"), ("thing", "Other Thing")] {
      let error = #expect(throws: UserFileError.self) { try HeadphoneFile.find(typed, in: folders) }
      #expect(error?.reason.contains("did you mean '\(near)'") ?? false)
    }
    let error = #expect(throws: UserFileError.self) { try HeadphoneFile.find("qqq", in: folders) }
    #expect(error?.reason.contains("add a profile to \(first.path)") ?? false)
  }

  @Test func unreadableFilesAreRefused() throws {
    let folder = TemporaryFolder()
    for (path, reason) in [
      (folder.path, "not a regular file"), (folder.file("none.txt"), "no such file"),
      (try folder.write("Filter\0", to: "zero.txt"), "not UTF-8 text"),
    ] {
      let error = #expect(throws: UserFileError.self) { try HeadphoneFile.read(path) }
      #expect(error?.reason.contains(reason) ?? false)
    }
  }

  /// The examples that are installed with the program.
  @Test func installedExamplesAreValidProfiles() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let folder = "\(root)/Calibration/headphones"
    let names = HeadphoneFile.names(in: [folder])
    #expect(names.contains("flat") && names.count >= 3)
    for name in names {
      let profile = try HeadphoneFile.read(HeadphoneFile.find(name, in: [folder]))
      #expect(profile.filters.isEmpty == (name == "flat"))
    }
  }
}
