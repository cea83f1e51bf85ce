// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `render --to` and `--upmix`.
@Suite struct OutputLayoutTests {
  private let frames = 9000

  private func noise(_ random: inout SeededGenerator) -> [Float] {
    (0..<frames).map { _ in Float.random(in: -0.3...0.3, using: &random) }
  }

  private func render(
    _ channels: [[Float]], _ options: [String], in folder: TemporaryFolder
  ) throws -> [[Float]] {
    let input = try folder.write(FloatWAV(channels: channels).bytes(), to: "in.wav")
    let output = folder.file("out.wav")
    _ = try Stillstage.succeed(["render", input, "-o", output] + options)
    return try FloatWAV(reading: output).channels
  }

  /// Returns the loudspeaker mask in the file; nil if it has none.
  private func mask(_ path: String) throws -> UInt32? {
    let bytes = try readFile(path)
    let start = try #require(
      (0..<200).first { Array(bytes[$0..<($0 + 4)]) == Array("fmt ".utf8) })
    guard bytes[start + 8] == 0xFE, bytes[start + 9] == 0xFF else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(bytes[start + 28 + $1]) << UInt32(8 * $1) }
  }

  @Test(
    arguments: [
      ("stereo", 2, nil), ("5.1", 6, 0x60F), ("7.1", 8, 0x63F), ("7.1.4", 12, 0x2D63F),
      ("foa", 4, 0),
    ] as [(String, Int, UInt32?)])
  func outputHasTheTargetsLayoutAndLength(name: String, count: Int, mask wanted: UInt32?) throws {
    let folder = TemporaryFolder()
    var random = SeededGenerator.forTest()
    for pose in [[], ["--pose", "30,10,-20"]] {
      for (channels, layout) in [(1, "mono"), (2, "stereo"), (6, "5.1"), (4, "foa"), (9, "hoa")] {
        let out = try render(
          (0..<channels).map { _ in noise(&random) }, ["--to", name, "--layout", layout] + pose,
          in: folder)
        #expect(out.count == count)
        #expect(out.allSatisfy { $0.count == frames })
        #expect(out.joined().allSatisfy { $0.isFinite })
        #expect(try mask(folder.file("out.wav")) == wanted)
        #expect(out.contains { channel in channel.contains { $0 != 0 } })
      }
    }
  }

  @Test func stereoTo51AppliesOnlyTheUpmix() throws {
    let folder = TemporaryFolder()
    var random = SeededGenerator.forTest()
    let (l, r) = (noise(&random), noise(&random))
    let half = Float(0.5.squareRoot())
    for upmix in ["on", "low-latency"] {
      let out = try render([l, r], ["--to", "5.1", "--upmix", upmix, "--block", "77"], in: folder)
      for i in 0..<frames {
        #expect(abs(out[0][i] + half * (out[2][i] + out[4][i]) - l[i]) < 1e-6)
        #expect(abs(out[1][i] + half * (out[2][i] + out[5][i]) - r[i]) < 1e-6)
      }
      #expect(out[4].contains { abs($0) > 0.01 })
      #expect(try render([l, r], ["--to", "5.1", "--upmix", upmix], in: folder) == out)
    }
    for options in [["--upmix", "off"], ["--spatialize", "multichannel"]] {
      let plain = try render([l, r], ["--to", "5.1"] + options, in: folder)
      #expect(plain[0] == l && plain[1] == r)
      #expect(plain[2...].joined().allSatisfy { $0 == 0 })
    }
    #expect(try render([l, r], ["--to", "stereo"], in: folder) == [l, r])
    let identical = try render([l, l], ["--to", "5.1"], in: folder)
    #expect(identical[0].allSatisfy { abs($0) < 1e-4 })
  }

  /// If the source is at azimuth a and the head is turned by y, the sound comes from a - y.
  @Test(arguments: [0.0, 30, -75, 180]) func poseRotatesTheSoundfield(yaw: Double) throws {
    let folder = TemporaryFolder()
    var random = SeededGenerator.forTest()
    let x = noise(&random)
    let silence = [Float](repeating: 0, count: frames)
    var bed = [[Float]](repeating: silence, count: 6)
    bed[4] = x
    let out = try render(
      bed, ["--to", "foa", "--layout", "5.1(side)", "--pose", "\(yaw),0,0"], in: folder)
    let angle = (110 - yaw) * Double.pi / 180
    let expected = [1, sin(angle), 0, cos(angle)]
    for (c, gain) in expected.enumerated() {
      for i in 0..<frames { #expect(abs(Double(out[c][i]) - gain * Double(x[i])) < 1e-6) }
    }
    let field = expected.map { gain in x.map { Float(gain) * $0 } }
    let back = try render(
      field, ["--to", "foa", "--layout", "foa", "--pose", "\(-yaw),0,0"], in: folder)
    let start = 110 * Double.pi / 180
    for (c, gain) in [1, sin(start), 0, cos(start)].enumerated() {
      for i in 0..<frames { #expect(abs(Double(back[c][i]) - gain * Double(x[i])) < 1e-5) }
    }
  }

  /// With the head turned by 110 degrees, the left surround is in front.
  @Test func poseRotatesTheBed() throws {
    let folder = TemporaryFolder()
    var random = SeededGenerator.forTest()
    let x = noise(&random)
    let silence = [Float](repeating: 0, count: frames)
    var bed = [[Float]](repeating: silence, count: 6)
    (bed[3], bed[4]) = (noise(&random), x)
    let options = ["--layout", "5.1(side)", "--pose", "110,0,0"]
    let out = try render(bed, ["--to", "5.1"] + options, in: folder)
    for i in 0..<frames { #expect(abs(out[2][i] - x[i]) < 1e-6) }
    #expect(out[3] == bed[3])
    let stereo = try render(bed, ["--to", "stereo"] + options, in: folder)
    let half = Float(0.5.squareRoot())
    for i in 0..<frames { #expect(abs(stereo[0][i] - half * x[i]) < 1e-6) }
  }

  @Test func limiterIsRefusedForLoudspeakerLayouts() throws {
    let folder = TemporaryFolder()
    var random = SeededGenerator.forTest()
    let input = try folder.write(FloatWAV(channels: [noise(&random)]).bytes(), to: "in.wav")
    let run = try Stillstage.run([
      "render", input, "-o", folder.file("out.wav"), "--to", "5.1", "--limiter", "on",
    ])
    #expect(run.exitCode == 2)
    #expect(!folder.names.contains("out.wav"))
  }

  /// Compares the upmix of three mixes with our limits and with ffmpeg's filter.
  @Test func upmixBenchMeetsItsLimits() throws {
    let run = try ProgramRun.of(Stillstage.path, ["bench", "upmix", "--json"], timeoutSeconds: 240)
    let flat = run.output.filter { !$0.isWhitespace }
    #expect(flat.split(separator: "\"method\":\"stillstage\"").count == 4)
    // CPU time relative to ffmpeg depends on the load of the machine; the other limits do not.
    let misses = run.errors.split(separator: "\n").filter { $0.contains("limits not met") }
    for text in misses {
      let names = text.split(separator: "limits not met: ").last?.split(separator: ", ") ?? []
      #expect(names.allSatisfy { $0.hasSuffix("CPU time") }, "\(text)")
    }
    #expect(run.exitCode == (misses.isEmpty ? 0 : 1))
  }
}
