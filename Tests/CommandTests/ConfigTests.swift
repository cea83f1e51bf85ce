// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Tests `config.json` with `render`.
@Suite struct ConfigTests {
  private func render(
    _ config: String, _ options: [String]
  ) throws -> (run: ProgramRun, peak: Float) {
    let folder = TemporaryFolder()
    _ = try ProgramRun.of("mkdir", ["-p", folder.file("stillstage")])
    try folder.write(config, to: "stillstage/config.json")
    let sound = [Float](repeating: 0, count: 1000) + [0.5] + [Float](repeating: 0, count: 1000)
    let input = try folder.write(FloatWAV(channels: [sound, sound]).bytes(), to: "in.wav")
    let output = folder.file("out.wav")
    let run = try ProgramRun.of(
      Stillstage.path, ["render", input, "-o", output] + options,
      environment: ["XDG_CONFIG_HOME": folder.path])
    let channels = (try? FloatWAV(reading: output))?.channels ?? []
    return (run, channels.joined().map { abs($0) }.max() ?? 0)
  }

  @Test func commandLineOverridesConfiguredDefaults() throws {
    let plain = try render("{}", []).peak
    #expect(plain > 0.01)
    let louder = try render(#"{"gain": 6}"#, []).peak
    #expect(abs(louder / plain - 1.9953) < 0.001)
    let overridden = try render(#"{"gain": 6}"#, ["--gain", "0"]).peak
    #expect(abs(overridden / plain - 1) < 1e-5)
  }

  @Test func poseOptionOverridesConfiguredMotion() throws {
    let run = try render(#"{"motion": "/no/such/file.csv"}"#, ["--pose", "90,0,0"]).run
    #expect(run.exitCode == 0)
    #expect(try render(#"{"motion": "/no/such/file.csv"}"#, []).run.exitCode == 1)
  }

  @Test(arguments: [
    (#"{"gian": 6}"#, "config.json: 'play' and 'render' have no option 'gian'"),
    (#"{"gain": 99}"#, "config.json: 'gain' is '99', but must be a number from -120 to 40"),
    (#"{"layout": "5.9"}"#, "config.json: 'layout' is '5.9', but must be auto"),
  ])
  func invalidDefaultsGiveAOneLineError(config: String, reason: String) throws {
    let run = try render(config, []).run
    #expect(run.exitCode == 1)
    #expect(run.errors.contains(reason))
    #expect(run.errors.split(separator: "\n").count == 1)
  }
}
