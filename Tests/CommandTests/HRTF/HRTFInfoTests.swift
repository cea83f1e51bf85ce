// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct HRTFInfoTests {
  @Test func usableFileIsDescribed() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let run = try Stillstage.succeed(["hrtf", "info", sofa])
    #expect(run.errors == "")
    let lines = run.output.split(separator: "\n").map(String.init)
    for (name, value) in [
      ("decoder delay", "1 ms"), ("usable", "yes"), ("directions", "62"),
      ("sample rate", "48000 Hz"), ("delays", "3.00 to 5.50 samples"), ("title", "Test head"),
    ] {
      #expect(lines.contains { $0.hasPrefix(name) && $0.hasSuffix("  \(value)") }, "\(name)")
    }
    #expect(lines.contains { $0.hasPrefix("diffuse-field level") })
    #expect(lines.contains { $0.hasPrefix("largest gap") })
  }

  @Test func jsonHasTheSameEntriesAndNoOtherOutput() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let run = try Stillstage.succeed(["hrtf", "info", "--json", sofa])
    #expect(run.errors == "")
    #expect(run.output.hasPrefix("{\n") && run.output.hasSuffix("\n}\n"))
    for entry in [
      "\"decoderDelayMilliseconds\" : 1", "\"usable\" : true", "\"directions\" : 62",
      "\"sampleRate\" : 48000", "\"trueChannelZero\" : \"left\"", "\"reasons\" : [",
      "\"diffuseFieldLevelDecibels\" : ", "\"largestGapDegrees\" : ",
    ] {
      #expect(run.output.contains(entry), "\(entry)")
    }
  }

  @Test(arguments: [false, true])
  func anUnusableFileIsDescribedAndRefused(asJSON: Bool) throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("room-responses", in: folder)
    let run = try Stillstage.run(["hrtf", "info", sofa] + (asJSON ? ["--json"] : []))
    #expect(run.exitCode == 1)
    #expect(run.output.contains("MultiSpeakerBRIR"))
    #expect(run.output.contains(asJSON ? "\"usable\" : false" : "usable"))
    #expect(run.errors.contains("only SimpleFreeFieldHRIR is supported"))
    #expect(run.errors.filter { $0 == "\n" }.count == 1)
  }
}
