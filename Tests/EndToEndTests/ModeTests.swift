// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct ModeTests {
    /// Returns a recording during which the head turns by 90 degrees, and the time of the turn.
    private func playTurning(
      _ scene: Scene, path: String? = nil, _ arguments: [String], tracker: [String]? = []
    ) throws -> (Recording, Int64) {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          scene, path: path, on: server.address, arguments, tracker: tracker)
        try performance.begin()
        sleepSeconds(0.7)
        let turned = tracker == nil ? 0 : try performance.move("pose 90 0 0")
        sleepSeconds(tracker == nil ? 2 : 0.6)
        let recording = recorder.finish()
        #expect(performance.end().code == 143)
        return (recording, turned)
      }
    }

    @Test func fixedModeIgnoresHeadTurns() throws {
      let (recording, turned) = try playTurning(.noise, ["--mode", "fixed"])
      let stage = HeardStage(recording, .noise)
      let moments = stage.between(turned - 300_000_000, turned + 500_000_000)
      #expect(moments.count > 300)
      #expect(moments.allSatisfy { abs($0.yaw) < 0.01 && $0.residualDecibels < -80 })
    }

    @Test func offModePlaysAMonoFileEquallyInBothEars() throws {
      let folder = TemporaryFolder()
      var generator = SeededGenerator(3)
      let mono = (0..<10 * Scene.sampleRate).map { _ in 0.05 * Float(generator.gaussian()) }
      try FloatWAV(rate: Scene.sampleRate, channels: [mono]).write(to: folder.file("mono.wav"))
      let (recording, turned) = try playTurning(
        .noise, path: folder.file("mono.wav"), ["--mode", "off"])
      let end = recording.frame(at: turned + 400_000_000)
      #expect(recording.level(end - 24_000..<end) > 0.03)
      #expect((0..<recording.frames).allSatisfy { recording.ears[0][$0] == recording.ears[1][$0] })
      // With spatial rendering the same file turns with the head.
      let (spatial, left) = try playTurning(.noise, path: folder.file("mono.wav"), [])
      let start = spatial.frame(at: left + 200_000_000)
      let difference = InterauralDifference(
        spatial.ears.map {
          Array($0[start..<start + 12_000]) + [Float](repeating: 0, count: 20_768)
        },
        from: 0)
      #expect(difference.time > 200e-6)
    }

    @Test func stageFollowsARecordedMotion() throws {
      let folder = TemporaryFolder()
      // The head turns 90 degrees to the left between 0.5 and 1.5 s of the source.
      var rows = "t,w,x,y,z\n"
      for step in 0...100 {
        let angle = 90 * Double(step) / 100 * Double.pi / 360
        rows += "\(0.5 + Double(step) / 100),\(cos(angle)),0,0,\(sin(angle))\n"
      }
      try folder.write(rows, to: "head.csv")
      let (recording, _) = try playTurning(
        .noise, ["--motion", folder.file("head.csv")], tracker: nil)
      let moments = HeardStage(recording, .noise).moments.filter {
        ($0.sourceFrame ?? 0) > 9600 && $0.gain > 0.9
      }
      let errors = moments.map { moment in
        let seconds = Double(moment.sourceFrame ?? 0) / 48_000
        return abs(moment.yaw - min(90, max(0, 90 * (seconds - 0.5))))
      }
      print("recorded head: off by at most \(errors.max() ?? .nan) degrees")
      #expect(errors.count > 900)
      #expect(errors.allSatisfy { $0 < 0.5 })
      #expect(moments.last.map { $0.yaw > 89.9 } == true)
    }
  }
}
