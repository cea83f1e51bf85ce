// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `--mix` of `render` and the commands `mix ...`.
@Suite struct MixCommandTests {
  private let folder = TemporaryFolder()

  /// Writes a soundfield with a pulsating tone in front and some noise.
  private func field(channels: Int = 4, frames: Int = 96_000) throws -> String {
    var random = SeededGenerator.forTest()
    let sound = (0..<channels).map { c in
      (0..<frames).map { i -> Float in
        let time = Double(i) / 48_000
        let tone = 0.2 * sin(2 * .pi * 500 * time) * max(0, sin(2 * .pi * 4 * time))
        return (c == 0 || c == 3 ? Float(tone) : 0) + Float.random(in: -0.01...0.01, using: &random)
      }
    }
    return try folder.write(FloatWAV(channels: sound).bytes(), to: "field.wav")
  }

  private func render(_ input: String, _ options: [String]) throws -> [[Float]] {
    let output = folder.file("out.wav")
    _ = try Stillstage.succeed(["render", input, "-o", output, "--layout", "foa"] + options)
    return try FloatWAV(reading: output).channels
  }

  private func largestDifference(_ a: [[Float]], _ b: [[Float]]) -> Float {
    zip(a, b).reduce(0) { max($0, zip($1.0, $1.1).reduce(0) { max($0, abs($1.0 - $1.1)) }) }
  }

  @Test func amountZeroIsTheInputAndStemsAddUp() throws {
    let input = try field()
    let truth = try FloatWAV(reading: input).channels
    for style in ["standard", "cinematic", "studio", "in-frame"] {
      let same = try render(input, ["--to", "foa", "--mix", style, "--amount", "0"])
      #expect(largestDifference(same, truth) == 0)
    }
    let five = try render(input, ["--to", "foa+speech", "--mix", "cinematic", "--amount", "0"])
    #expect(five.count == 5)
    #expect(five[0].count == truth[0].count)
    let image = zip(five[0], five[4]).map { $0 + $1 }
    #expect(largestDifference([image], [truth[0]]) < 1e-6)
  }

  @Test(
    arguments: [
      (["--mix", "cinematic", "--amount", "1.1"], 2),
      (["--mix", "cinematic", "--amount", "nan"], 2),
      (["--mix", "cinematic", "--field-of-view", "5"], 2), (["--mix", "cinemtic"], 2),
      (["--amount", "0.5"], 2), (["--mix", "cinematic-foreground", "--to", "foa+speech"], 2),
      (["--mix", "cinematic", "--layout", "quad"], 1),
      (["--mix", "cinematic", "--mix-tuning", "/nonexistent.json"], 1),
      (["--mix", "cinematic", "--separator", "neural"], 1),
    ] as [([String], Int32)])
  func badInputIsRefusedInOneLine(options: [String], code: Int32) throws {
    let run = try Stillstage.run(
      ["render", try field(frames: 1000), "-o", folder.file("o.wav"), "--layout", "foa"] + options)
    #expect(run.exitCode == code)
    #expect(run.errors.filter { $0 == "\n" }.count == 1)
    #expect(access(folder.file("o.wav"), F_OK) != 0)
  }

  @Test func missingNeuralSeparatorNamesFilesAndFolders() throws {
    let run = try ProgramRun.of(
      Stillstage.path,
      [
        "render", try field(frames: 1000), "-o", folder.file("o.wav"), "--layout", "foa", "--mix",
        "studio", "--separator", "neural",
      ], environment: ["STILLSTAGE_SEPARATOR": folder.path])
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("libdeepfilter.so"))
    #expect(run.errors.contains("'\(folder.path)'"))
  }

  @Test func sinkHasNoMix() throws {
    #expect(try Stillstage.run(["sink", "--mix", "cinematic"]).exitCode == 2)
  }

  /// Writes a film with a picture, the field and a second sound.
  private func film(_ name: String) throws -> String {
    let path = folder.file(name)
    let run = try ProgramRun.of(
      "ffmpeg",
      [
        "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=2", "-i",
        try field(), "-f", "lavfi", "-i", "sine=frequency=440:duration=2", "-map", "0", "-map",
        "1", "-map", "2", "-c:v", "mpeg4", "-c:a:0", "pcm_f32le", "-c:a:1", "aac", path,
      ])
    try #require(run.exitCode == 0, "apt install ffmpeg: \(run.errors)")
    return path
  }

  private func checksum(_ path: String, _ stream: String) throws -> String {
    try ProgramRun.of(
      "ffmpeg", ["-v", "error", "-i", path, "-map", stream, "-c", "copy", "-f", "md5", "-"]
    ).output
  }

  @Test(arguments: ["film.mov", "film.mkv"], ["out.mov", "out.mka"])
  func bakedFileHasTheMixAndTheOtherTracks(input: String, output: String) throws {
    let (film, baked) = (try film(input), folder.file(output))
    let mix = ["--mix", "cinematic", "--amount", "0.7"]
    _ = try Stillstage.succeed(["mix", "bake", film, "-o", baked, "--layout", "foa"] + mix)
    #expect(try checksum(baked, "0:v") == checksum(film, "0:v"))
    let truth = try render(film, ["--to", "foa"] + mix)
    let result = try render(baked, ["--to", "foa"])
    #expect(largestDifference(result, truth) < 1e-6)
    // The tuning is found again.
    let other = try render(baked, ["--to", "foa", "--mix", "cinematic-background"])
    #expect(other.count == 4)
    let again = folder.file("again.mov")
    _ = try Stillstage.succeed(["mix", "bake", baked, "-o", again, "--mix", "standard"])
    #expect(largestDifference(try render(again, ["--to", "foa"]), result) < 1e-6)
    #expect(try checksum(again, "0:v") == checksum(film, "0:v"))
  }

  @Test func bakeNamesAConversionForTooHighARate() throws {
    let sound = [[Float]](repeating: [Float](repeating: 0.1, count: 19_200), count: 4)
    let input = try folder.write(
      FloatWAV(rate: 192_000, channels: sound).bytes(), to: "high.wav")
    let output = folder.file("high.mka")
    let run = try Stillstage.run(["mix", "bake", input, "-o", output, "--layout", "foa"])
    #expect(run.exitCode == 1 && run.errors.contains("192000 Hz; convert the recording first"))
    #expect(access(output, F_OK) != 0)
  }

  @Test(arguments: [("5.1", 6), ("7.1", 8), ("7.1.4", 12), ("stereo", 2), ("foa+speech", 5)])
  func processWritesTheLayout(target: String, channels: Int) throws {
    let output = folder.file("p.wav")
    _ = try Stillstage.succeed(
      ["mix", "process", try field(), "--to", target, "-o", output, "--layout", "foa"])
    let sound = try FloatWAV(reading: output)
    #expect(sound.channels.count == channels)
    #expect(sound.channels[0].count == 96_000)
  }

  @Test func analyseWritesATuningThatRenderAccepts() throws {
    let (input, tuning) = (try field(), folder.file("tuning.json"))
    _ = try Stillstage.succeed(["mix", "analyse", input, "-o", tuning, "--layout", "foa"])
    let text = String(decoding: try readFile(tuning), as: UTF8.self)
    #expect(text.hasPrefix(#"{"version":1,"#))
    _ = try render(input, ["--to", "foa", "--mix", "cinematic", "--mix-tuning", tuning])
  }
}
