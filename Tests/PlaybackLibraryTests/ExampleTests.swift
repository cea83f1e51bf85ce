// SPDX-License-Identifier: Apache-2.0

import Playback
import TestSupport
import Testing

@testable import Laboratory

/// Checks that the example program does what its comments promise.
@Suite struct ExampleTests {
  private let program = "\(ProgramRun.builtProducts)/playback-example"

  @Test func circleExampleMovesTheSoundAroundTheHead() throws {
    let folder = TemporaryFolder()
    let run = try ProgramRun.of(program, ["circle", folder.file("out.wav")], timeoutSeconds: 120)
    #expect(run.exitCode == 0, "\(run.errors)")
    let sound = try StereoSound(path: folder.file("out.wav"))
    #expect(sound.sampleRate == 48000)
    #expect(sound.frames > 4 * 48000)
    // The head looks to the front, left, back and right after 0, 1, 2 and 3 s.
    let front = sound.levelDifference(atSeconds: 0.02)
    let right = sound.levelDifference(atSeconds: 1)
    let back = sound.levelDifference(atSeconds: 2)
    let left = sound.levelDifference(atSeconds: 3)
    #expect(abs(front) < 2)
    #expect(right < -6)
    #expect(abs(back) < 2)
    #expect(left > 6)
  }

  @Test func playExampleConnectsToTheSink() throws {
    let folder = TemporaryFolder()
    let path = folder.file("field.wav")
    // First-order filters are the fastest to design in a debug build.
    let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let writer = try WAVWriter(path: path, layout: layout, sampleRate: 48000)
    try writer.write(interleaved: [Float](repeating: 0.1, count: 4 * 24000))
    try writer.close()
    try PrivatePulseServer.withServer { server in
      let run = try ProgramRun.of(
        program, ["play", path], environment: ["PULSE_SERVER": server.address], timeoutSeconds: 120)
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.output.contains("connected(sink: \"ears\")"))
    }
  }

  @Test func routesExamplePrintsTheRoutes() throws {
    let folder = TemporaryFolder()
    try PrivatePulseServer.withServer { server in
      let run = try ProgramRun.of(
        program, ["routes", "1"],
        environment: ["PULSE_SERVER": server.address, "HOME": folder.path], timeoutSeconds: 60)
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.output.contains("binaural (no sign of loudspeakers)"))
      #expect(run.output.contains("spatial sound is available on Private-ears"))
    }
  }

  @Test func recordExampleRecordsAnInput() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.wav")
    try PrivatePulseServer.withServer { server in
      try server.pactl(["load-module", "module-null-source", "source_name=mic", "rate=48000"])
      let run = try ProgramRun.of(
        program, ["record", path, "0.75"],
        environment: ["PULSE_SERVER": server.address, "HOME": folder.path], timeoutSeconds: 60)
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.output.contains("0.75 s of mic"), "\(run.output)")
      // 36,000 frames of 24 bits follow the header.
      let size = try readFile(path).count
      #expect((108_044..<112_000).contains(size), "\(size)")
    }
  }

  @Test func exampleWithoutArgumentsPrintsItsUsage() throws {
    let run = try ProgramRun.of(program)
    #expect(run.exitCode == 0)
    #expect(run.output.hasPrefix("usage: playback-example"))
  }
}
