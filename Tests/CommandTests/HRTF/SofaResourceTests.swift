// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Files within the limits of the reader, but as large as these limits allow.
@Suite(.serialized) struct SofaResourceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let file: String
    let options: [String]
    var testDescription: String { "\(file) \(options.joined(separator: " "))" }
  }

  private static let cases = [
    Case(file: "samples-longest", options: []),
    Case(file: "samples-longest", options: ["--rate", "192000", "--order", "7"]),
    Case(file: "samples-longest", options: ["--decoder", "direct"]),
    Case(file: "measurements-most", options: ["--order", "7"]),
    Case(file: "measurements-most", options: ["--rate", "384000"]),
    Case(file: "measurements-most", options: ["--decoder", "direct", "--rate", "96000"]),
  ]

  /// No file takes more than 2 GB or 60 s.
  @Test(arguments: cases) func anyFileIsUsedWithinTheLimits(_ large: Case) throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa(large.file, in: folder)
    let tone = (0..<4800).map { 0.1 * Float($0 % 48 < 24 ? 1 : -1) }
    try folder.write(FloatWAV(channels: [tone, tone]).bytes(), to: "in.wav")
    let output = folder.file("out.wav")
    let start = ContinuousClock.now
    let program = try RunningProgram(
      [Stillstage.path, "render", folder.file("in.wav"), "-o", output, "--hrtf", sofa]
        + large.options)
    var peak = 0
    _ = waitUntil(seconds: 120) {
      peak = max(peak, Self.peakKilobytes(program.pid))
      return program.wait(seconds: 0.01) != nil
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("\(large.testDescription): \(peak / 1024) MB, \(seconds) s")
    #expect(program.wait(seconds: 0) == 0, "\(program.lines.map(\.text))")
    #expect(program.lines.contains { $0.text.contains("note: the") })
    #expect(peak < 2 << 20)
    #expect(seconds < 60)
    let samples = try FloatWAV(reading: output).channels.joined()
    #expect(samples.allSatisfy { $0.isFinite })
    #expect(samples.contains { abs($0) > 1e-3 })
  }

  /// Returns the largest resident memory of a process so far; 0 after its end.
  private static func peakKilobytes(_ pid: Int32) -> Int {
    let status = (try? SystemFile.contents("/proc/\(pid)/status")) ?? []
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  @Test func tinyResponsesAreRefused() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("level-low", in: folder)
    let info = try Stillstage.run(["hrtf", "info", sofa, "--json"])
    #expect(info.exitCode == 1)
    #expect(info.output.contains("\"usable\" : false"), "\(info.output)")
    #expect(info.errors.contains("its diffuse-field level is -777.3 dB"))
    try folder.write(FloatWAV(channels: [[0.5, 0.5], [0.5, 0.5]]).bytes(), to: "in.wav")
    let render = try Stillstage.run([
      "render", folder.file("in.wav"), "-o", folder.file("out.wav"), "--hrtf", sofa,
    ])
    #expect(render.exitCode == 1)
    #expect(render.errors.contains("its diffuse-field level is -777.3 dB"))
    #expect(!folder.names.contains("out.wav"))
  }
}
