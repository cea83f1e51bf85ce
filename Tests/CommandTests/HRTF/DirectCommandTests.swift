// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `--decoder direct`, including the sources that it refuses.
@Suite struct DirectCommandTests {
  private func field(_ channels: Int, in folder: TemporaryFolder) throws -> String {
    let impulse: [Float] = [1] + [Float](repeating: 0, count: 99)
    try folder.write(
      FloatWAV(rate: 16000, channels: .init(repeating: impulse, count: channels)).bytes(),
      to: "in\(channels).wav")
    return folder.file("in\(channels).wav")
  }

  @Test func directDecoderRendersBedsAndRefusesSoundfields() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    for (channels, layout) in [(1, "mono"), (2, "stereo"), (6, "5.1"), (12, "7.1.4")] {
      _ = try Stillstage.succeed([
        "render", try field(channels, in: folder), "-o", folder.file("out.wav"), "--hrtf", sofa,
        "--layout", layout, "--decoder", "direct", "--pose", "20,10,0",
      ])
      let ears = try FloatWAV(reading: folder.file("out.wav"))
      let peaks = ears.channels.map { $0.reduce(0) { max($0, abs($1)) } }
      #expect(peaks.allSatisfy { $0 > 0.05 && $0 < 20 })
    }
    let refused = try ProgramRun.of(
      "\(ProgramRun.builtProducts)/stillstage",
      [
        "render", try field(4, in: folder), "-o", folder.file("no.wav"), "--hrtf", sofa,
        "--layout", "foa", "--decoder", "direct",
      ])
    #expect(refused.exitCode == 2)
    #expect(refused.errors.contains("treat the channels as loudspeakers with --layout\n"))
    #expect(refused.errors.split(separator: "\n").count == 1)
    #expect(access(folder.file("no.wav"), F_OK) != 0)
  }

  @Test func exportRefusesTheDirectDecoder() throws {
    let folder = TemporaryFolder()
    let run = try ProgramRun.of(
      "\(ProgramRun.builtProducts)/stillstage",
      [
        "hrtf", "export", try Fixtures.sofa("plain", in: folder), "-o", folder.file("no.wav"),
        "--order", "1", "--decoder", "direct",
      ])
    #expect(run.exitCode == 2)
    #expect(run.errors.contains("'direct'"))
    #expect(access(folder.file("no.wav"), F_OK) != 0)
  }
}
