// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

@Suite struct ReplayTests {
  /// The packets of two seconds of simulated AirPods, as a capture.
  private func capture() -> String {
    var exchange = Exchange(.init(batches: [1, 2]))
    var text = FrameFile.heading(.airPods)
    let start = exchange.now
    while exchange.now - start < 2_000_000_000 {
      exchange.run(seconds: 0.005)
      let time = Double(exchange.now - start) * 1e-9
      for packet in exchange.sentByAirPods {
        text += FrameFile.line(.init(time: time, direction: .received, bytes: packet))
      }
      exchange.sentByAirPods = []
    }
    return text
  }

  @Test("A capture replays as the motion that it recorded, at its own speed, once")
  func replays() throws {
    let folder = TemporaryFolder()
    let path = try folder.write(capture(), to: "capture.txt")
    let replay = try ReplayTracker(path)
    let tracker = try #require(replay.trackers(detailed: false).first)
    #expect(tracker.id == "replay:\(path)")
    var connection = try replay.connect(tracker, isCalibrated: false)
    var samples: [HeadSample] = []
    reading: while true {
      switch connection.listen(timeoutMilliseconds: 50) {
      case .gone: break reading
      case .nothing: continue
      case .readings(let readings, _):
        for case .head(let sample) in readings { samples.append(sample) }
      }
    }
    #expect(samples.count > 80)
    let seconds = Double((samples.last?.time ?? 0) - (samples.first?.time ?? 0)) * 1e-9
    #expect(abs(seconds - 1.9) < 0.3)
    // The head of the simulation turns from the front by up to 40 degrees in this time.
    let last = try #require(samples.last).headToWorld
    #expect(Quaternion.angle(between: last, Exchange.looking(2.99)) * 180 / .pi < 3)
    #expect(replay.trackers(detailed: false).isEmpty)
  }

  @Test("A line keeps the time to a microsecond and all bytes")
  func lines() throws {
    let frames: [FrameCapture.Frame] = [
      .init(time: 0, direction: .sent, bytes: [0, 0x0F, 0xFF]),
      .init(time: 12.000001, direction: .received, bytes: [1]),
      .init(time: 12.5, direction: .received, bytes: []),
    ]
    let text = FrameFile.heading(.galaxyBuds) + frames.map(FrameFile.line).joined()
    let file = try FrameFile("# a comment\n\n" + text, path: "x")
    #expect(file.source == "galaxy-buds" && file.frames == frames)
  }

  @Test(
    "An invalid capture is refused with the line",
    arguments: [
      ("", 1), ("hello\n", 1), ("stillstage-frames 2 airpods\n", 1),
      ("stillstage-frames 1 airpods\n0 < 0\n", 2), ("stillstage-frames 1 airpods\n0 * 00\n", 2),
      ("stillstage-frames 1 airpods\n1 < 00\n0 < 00\n", 3),
      ("stillstage-frames 1 airpods\nnan < 00\n", 2),
      ("stillstage-frames 1 airpods\n1e300 < 00\n", 2),
    ])
  func invalid(text: String, line: Int) {
    #expect { try FrameFile(text, path: "x") } throws: {
      if case HeadTrackingError.badMotionRow("x", line, _) = $0 { true } else { false }
    }
  }
}
