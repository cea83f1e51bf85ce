// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Binaural

@Suite("Summaries of SOFA files")
struct HRTFSummaryTests {
  private func summary(_ name: String) throws -> HRTFSummary {
    try HRTFSummary(path: HRTFFixtures.shared.path(name))
  }

  @Test("The summary of a usable file is complete")
  func summaryOfAUsableFileIsComplete() throws {
    let summary = try summary("delays-per-ear")
    #expect(summary.isUsable)
    #expect(summary.reasons.isEmpty)
    #expect(summary.convention == "SimpleFreeFieldHRIR")
    #expect(summary.title == "Test head")
    #expect(summary.database == "Stillstage")
    #expect(summary.listener == "made")
    #expect(summary.license == "Apache-2.0")
    #expect(summary.organization == "Tests")
    #expect(summary.sampleRate == 48_000)
    #expect(summary.taps == 64)
    #expect(summary.measurements == 62)
    let content = try #require(summary.content)
    #expect(content.directions == 62)
    #expect(abs(content.elevations.lowerBound + 90) < 1e-4)
    #expect(abs(content.elevations.upperBound - 90) < 1e-4)
    #expect(abs(content.radius - 1.5) < 1e-6)
    #expect(content.delays == 3...5.5)
    #expect(content.declaredChannelZero == "left")
    #expect(content.trueChannelZero == "left")
    #expect(abs(content.energyRatio - 63.1) < 0.1)
    #expect(content.largestGapDegrees > 15 && content.largestGapDegrees < 30)
    #expect(abs(content.diffuseFieldLevelDecibels) < 3)
  }

  @Test("The summary reports a contradicting ear declaration")
  func summaryReportsAContradictingEar() throws {
    let summary = try summary("swapped-receivers")
    #expect(summary.isUsable)
    #expect(summary.content?.declaredChannelZero == "right")
    #expect(summary.content?.trueChannelZero == "left")
    #expect(summary.reasons.joined().contains("show that it is the left ear"))
    #expect(summary.content?.delays == nil)
  }

  @Test("The summary of a refused file describes it and gives the reasons")
  func summaryOfARefusedFileGivesTheReasons() throws {
    let rooms = try summary("room-responses")
    #expect(!rooms.isUsable)
    #expect(rooms.convention == "MultiSpeakerBRIR")
    #expect(rooms.title == "Test head")
    #expect(rooms.sampleRate == 48_000)
    #expect(rooms.content == nil)
    #expect(rooms.reasons.joined().contains("only SimpleFreeFieldHRIR is supported"))
    let few = try summary("measurements-3")
    #expect(!few.isUsable)
    #expect(few.measurements == 3)
    #expect(
      few.reasons == ["it has at most 3 directions at the same distance; a set needs at least 4"])
  }

  @Test("Text in any encoding becomes one line without control characters")
  func textIsDecodedToOneLine() throws {
    let organization = try #require(try summary("latin1-text").organization)
    #expect(organization.hasPrefix("Technische Hochschule K\u{f6}ln"))
    #expect(!organization.unicodeScalars.contains { $0.value < 32 })
  }

  @Test("The summary of the default set reports its unmeasured cap")
  func summaryReportsTheUnmeasuredCap() throws {
    let summary = try HRTFSummary(path: defaultSofa())
    #expect(summary.isUsable)
    #expect(summary.content?.elevations.lowerBound.rounded() == -40)
    #expect(summary.reasons == ["some directions have no measurement within about 50 degrees"])
  }

  @Test("Numbers are rounded to the given digits")
  func decimalRoundsToTheGivenDigits() {
    #expect(decimal(1.005, digits: 1) == "1.0")
    #expect(decimal(-0.004, digits: 2) == "0.00")
    #expect(decimal(-12.345, digits: 2) == "-12.35" || decimal(-12.345, digits: 2) == "-12.34")
    #expect(decimal(49.6, digits: 0) == "50")
    #expect(decimal(.infinity, digits: 2) == "inf")
  }
}
