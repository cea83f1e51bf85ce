// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Playback continues past damaged sound.
@Suite struct DamagedSoundTests {
  @Test func invalidSamplesAreMutedAndReportedOnce() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    var tone = (0..<9600).map { Float(sin(Double($0) * 0.1)) * 0.5 }
    for (place, bad) in [
      (4000, Float.nan), (4001, .infinity), (4700, -.infinity), (6000, 1e30),
    ] {
      tone[place] = bad
    }
    let input = folder.file("in.wav")
    try folder.write(FloatWAV(channels: [tone]).bytes(), to: "in.wav")
    let run = try Stillstage.succeed([
      "render", input, "-o", folder.file("out.wav"), "--hrtf", sofa, "--order", "1",
    ])
    #expect(run.errors.hasPrefix("stillstage: note: "))
    #expect(run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
    let output = try FloatWAV(reading: folder.file("out.wav"))
    #expect(output.channels.count == 2 && output.channels[0].count >= 9600)
    #expect(output.channels.allSatisfy { $0.allSatisfy { abs($0) < 4 } })
    // Playback continues: there is sound after the last damaged sample.
    #expect(output.channels[0][8000..<9000].contains { abs($0) > 0.05 })
  }

  @Test func truncatedFileIsRenderedToItsEnd() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    let tone = (0..<24000).map { Float(sin(Double($0) * 0.1)) * 0.5 }
    let whole = FloatWAV(channels: [tone]).bytes()
    let input = folder.file("cut.wav")
    try folder.write(Array(whole.prefix(44 + 4 * 5000)), to: "cut.wav")
    let run = try Stillstage.succeed([
      "render", input, "-o", folder.file("out.wav"), "--hrtf", sofa, "--order", "1",
    ])
    #expect(run.errors.contains("truncated"))
    #expect(run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
    #expect(try FloatWAV(reading: folder.file("out.wav")).channels[0].count >= 5000)
  }
}
