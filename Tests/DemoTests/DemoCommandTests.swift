// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Runs the built program from the command line to the files.
@Suite(.serialized) struct DemoCommandTests {
  @Test func demoWritesASoundFileAndAChart() throws {
    let folder = TemporaryFolder()
    let path = folder.file("scene.wav")
    let run = try ProgramRun.of(DemoEngine.path, ["demo", "-o", path], timeoutSeconds: 300)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output == "\(path)\n\(folder.file("scene.svg"))\n", "\(run.errors)")
    let svg = try ProgramRun.of("cat", [folder.file("scene.svg")]).output
    for name in ["yaw", "pitch", "roll", "left ear", "right ear", "time (s)"] {
      #expect(svg.contains(name), "\(name)")
    }
    let ears = try EarRecording(path: path)
    #expect(ears.seconds >= DemoScene.seconds && ears.seconds < DemoScene.seconds + 1)
    #expect(ears.peakDecibels < -1 && ears.peakDecibels > -15)
    let loudness = ears.loudness
    #expect(abs(loudness + 20) < 2, "\(loudness) LUFS")
    try expectStandingStage(ears)
    try expectFileWithoutServerAndGnuplot(sameAs: ears)
  }

  /// Checks that the wood block stays at the left of the stage: at the left ear first, in front
  /// when the head looks left, and behind when it looks right.
  private func expectStandingStage(_ ears: EarRecording) throws {
    let left = DemoScenePart.percussion.direction
    #expect(left?.azimuth == 90)
    // Choose strokes on which nothing else is struck and the head is still.
    let strokes = [5, 13, 29, 37].map { quaver in
      DemoScore.startSeconds + DemoScore.quaverSeconds * Double(quaver)
    }
    for stroke in strokes {
      #expect(DemoScore.events(of: .percussion).contains { abs($0.seconds - stroke) < 1e-9 })
      let others: [DemoScenePart] = [.melody, .bell]
      #expect(
        !others.flatMap(DemoScore.events).contains { abs($0.seconds - stroke) < 0.05 },
        "at \(stroke) s")
    }
    let levels = strokes.map { ears.trebleLevelDifference(from: $0, seconds: 0.02) }
    print("demo: the wood's level, left over right [dB]: \(levels)")
    #expect(levels[0] > 10 && abs(levels[3] - levels[0]) < 3, "ahead: \(levels)")
    #expect(levels[1] > 2 && levels[1] < levels[0] - 3, "30 degrees to the left: \(levels)")
    #expect(levels[2] > 1 && levels[2] < levels[0] - 3, "150 degrees to the left: \(levels)")
    // The melody in front is to the right of a head that looks left.
    #expect(ears.levelDifference(from: 4.4, seconds: 1.5) < -3)
    #expect(ears.levelDifference(from: 8.1, seconds: 1.6) > 3)
  }

  /// Without a sound server and gnuplot, the program still writes the file, and reports both.
  private func expectFileWithoutServerAndGnuplot(sameAs ears: EarRecording) throws {
    let folder = TemporaryFolder()
    let run = try ProgramRun.of(
      "sh",
      ["-c", "cd '\(folder.path)' && PATH='\(folder.path)' exec \"$0\" demo", DemoEngine.path],
      environment: ["PULSE_SERVER": "unix:\(folder.file("nobody"))"], timeoutSeconds: 300)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output == "demo.wav\n")
    #expect(run.errors.contains("no connection to a sound server"))
    #expect(run.errors.contains("demo.wav"))
    #expect(run.errors.contains("gnuplot is not installed"))
    #expect(run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("stillstage: ") })
    let again = try EarRecording(path: folder.file("demo.wav"))
    #expect(again.left == ears.left && again.right == ears.right)
  }

  @Test func unwritableOutputGivesAOneLineError() throws {
    let run = try ProgramRun.of(
      DemoEngine.path, ["demo", "-o", "/nonexistent/scene.wav"], timeoutSeconds: 300)
    #expect(run.exitCode == 1)
    #expect(run.output.isEmpty)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }
}
