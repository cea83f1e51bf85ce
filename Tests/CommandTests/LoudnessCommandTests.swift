// SPDX-License-Identifier: Apache-2.0

import Glibc
import Loudness
import TestSupport
import Testing

/// Tests `--loudness` and `--drc` with the built program.
@Suite struct LoudnessCommandTests {
  private let temporary = TemporaryFolder()

  /// Writes noise that swells and fades, so that the gates of the measurement matter.
  private func programme(_ name: String, channels: Int, level: Float) throws -> String {
    var random = SeededGenerator.forTest(#fileID, name)
    let samples = (0..<channels).map { channel in
      (0..<48_000 * 4).map { i in
        let swell = Float(pow(sin(Double(i + channel * 9000) / 40_000), 2))
        return level * swell * Float.random(in: -1...1, using: &random)
      }
    }
    let path = temporary.file(name)
    try FloatWAV(channels: samples).write(to: path)
    return path
  }

  private func measure(_ ears: [[Float]]) -> (loudness: Double, peak: Double) {
    let meter = LoudnessMeter(weights: [.main, .main], sampleRate: 48_000, measuresPeak: true)
    let signal = PlanarSignal(ears)
    meter.add(UnsafePointer(signal.channels), frames: signal.frames)
    return (meter.integrated ?? -.infinity, meter.truePeak ?? -.infinity)
  }

  private func render(_ input: String, _ options: String...) throws -> [[Float]] {
    let output = temporary.file("out.wav")
    _ = try Stillstage.succeed(["render", input, "-o", output, "--order", "1"] + options)
    return try FloatWAV(reading: output).channels
  }

  @Test func loudnessTargetIsReachedByAConstantGain() throws {
    for (channels, level, layout) in [(2, Float(0.02), "stereo"), (6, 0.3, "5.1"), (4, 0.1, "foa")]
    {
      let input = try programme("\(layout).wav", channels: channels, level: level)
      let plain = try render(input, "--layout", layout)
      let ears = try render(input, "--layout", layout, "--loudness", "-23")
      #expect(abs(measure(ears).loudness + 23) < 0.1, "\(layout)")
      let gain = Float(pow(10, (-23 - measure(plain).loudness) / 20))
      let loudest = ears[0].map(abs).max() ?? 0
      for (a, b) in zip(plain[0], ears[0]) { #expect(abs(a * gain - b) < 1e-3 * loudest) }
    }
  }

  @Test func gainOptionAddsToTheLoudnessGain() throws {
    let input = try programme("a.wav", channels: 2, level: 0.1)
    let ears = try render(input, "--loudness", "-23", "--gain", "-4")
    #expect(abs(measure(ears).loudness + 27) < 0.1)
  }

  @Test func limiterIsAppliedAfterTheLoudnessGain() throws {
    let input = try programme("a.wav", channels: 2, level: 0.1)
    let ears = try render(input, "--loudness", "-6", "--limiter", "on")
    #expect(measure(ears).peak <= -0.95)
    let run = try Stillstage.succeed([
      "render", input, "-o", temporary.file("loud.wav"), "--loudness", "-6", "--events",
      temporary.file("events"),
    ])
    #expect(run.errors.contains("dBTP; use '--limiter on'"))
  }

  @Test func silenceStaysSilent() throws {
    let input = try programme("a.wav", channels: 2, level: 0)
    #expect(try render(input, "--loudness", "-16")[0].allSatisfy { $0 == 0 })
  }

  @Test func loudnessIsOffByDefault() throws {
    let input = try programme("a.wav", channels: 2, level: 0.02)
    #expect(try render(input) == render(input, "--loudness", "off"))
  }

  @Test func wrongValuesAreRefused() throws {
    for options in [["--loudness", "loud"], ["--loudness", "3"], ["--drc", "on"]] {
      let run = try Stillstage.run(["render", "a.wav", "-o", "b.wav"] + options)
      #expect(run.exitCode == 2, "\(options)")
    }
  }
}
