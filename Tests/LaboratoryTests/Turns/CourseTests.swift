// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

/// Tests frame times, lags of courses and statistics of values.
@Suite struct CourseTests {
  @Test func percentilesAreThoseOfAnEvenRow() throws {
    var random = SeededGenerator.forTest()
    let distribution = try #require(
      Distribution((0...100).map(Double.init).shuffled(using: &random)))
    #expect(distribution.p50 == 50 && distribution.p95 == 95 && distribution.p99 == 99)
    #expect(distribution.minimum == 0 && distribution.maximum == 100 && distribution.mean == 50)
    #expect(abs(distribution.deviation - (101 * 101 - 1.0).squareRoot() / 12.0.squareRoot()) < 1e-9)
    #expect(Distribution([]) == nil)
    #expect(Distribution([3, 4])?.p50 == 3.5)
  }

  /// Reports with a jitter of 2 ms, and 40 ms of lost sound in the middle.
  @Test func timesAreThoseOfTheSink() throws {
    var random = SeededGenerator(8)
    let truth = { (frame: Int) in 5e9 + Double(frame) / 48e3 * 1e9 + (frame < 240_000 ? 0 : 40e6) }
    let reports = stride(from: 0, to: 480_000, by: 480).map { frame in
      (frame: frame, time: Int64(truth(frame) + Double.random(in: -2e6...2e6, using: &random)))
    }
    let timeline = try #require(CaptureTimeline(reports, sampleRate: 48_000))
    #expect(timeline.jitterMilliseconds > 0.9 && timeline.jitterMilliseconds < 1.4)
    for frame in [100, 100_000, 200_000, 260_000, 479_000] {
      #expect(abs(timeline.time(ofFrame: Double(frame)) - truth(frame)) < 1e6)
      #expect(abs(timeline.frame(at: truth(frame)) - frame) < 50)
    }
  }

  @Test(arguments: [0.0, 0.0123, 0.137, -0.02])
  func findsTheLagOfACourse(lag: Double) throws {
    var random = SeededGenerator(12)
    func yaw(_ time: Double) -> Double { 40 * sin(2.1 * time) + 15 * sin(5.3 * time + 1) }
    let head = stride(from: 0.0, to: 10, by: 0.01).map { $0 }
    let heard = stride(from: 1.0, to: 9, by: 0.004).map { $0 }
    let found = try #require(
      TrajectoryLag(
        of: (heard, heard.map { yaw($0 - lag) + Double.random(in: -1...1, using: &random) }),
        behind: (head, head.map(yaw))))
    #expect(abs(found.seconds - lag) < 0.0005)
    #expect(found.uncertainty < 0.0005 && found.residual < 0.7)
    #expect(TrajectoryLag(of: (heard, heard.map { _ in 0 }), behind: ([], [])) == nil)
  }

  /// A first-order soundfield is linear in the cosine and the sine of the yaw.
  @Test func readsTheYawOfARendering() {
    var random = SeededGenerator(2)
    let parts = (0..<6).map { _ in
      (0..<48_000).map { _ in Float.random(in: -1...1, using: &random) }
    }
    func rendered(_ yaw: (Int) -> Double, frames: Int) -> EarSound {
      func ear(_ first: Int) -> [Float] {
        (0..<frames).map { i in
          let (c, s) = (Float(cos(yaw(i))), Float(sin(yaw(i))))
          let at = i % 48_000
          return parts[first][at] + c * parts[first + 1][at] + s * parts[first + 2][at]
        }
      }
      return EarSound(left: ear(0), right: ear(3))
    }
    let reader = YawReader(
      ahead: rendered({ _ in 0 }, frames: 48_000),
      left: rendered({ _ in Double.pi / 2 }, frames: 48_000),
      right: rendered({ _ in -Double.pi / 2 }, frames: 48_000))
    let turning = { (i: Int) in i < 20_000 ? 0 : 1.2 * sin(Double(i - 20_000) / 9000) }
    let moments = reader.moments(
      in: rendered(turning, frames: 90_000), startingAt: 0..<4800)
    #expect(moments.count > 400)
    for moment in moments {
      #expect(abs(moment.yaw - turning(moment.frame) * 180 / Double.pi) < 1)
    }
  }

  /// One group is 50 ms higher, the waits scatter, and some rows come from a stalled machine.
  @Test func findsADifferenceAtTheSameWait() throws {
    var random = SeededGenerator(21)
    func rows(_ offset: Double) -> [GroupDifference.Row] {
      (0..<60).map { index in
        let wait = Double.random(in: 0...10, using: &random)
        let stall = index % 12 == 3 ? Double.random(in: 20...300, using: &random) : 0
        return (wait, offset + wait + stall + Double.random(in: -1...1, using: &random))
      }
    }
    let found = try #require(GroupDifference(rows(40), rows(90)))
    #expect(abs(found.difference - 50) < 0.4)
    #expect(found.uncertainty > 0.05 && found.uncertainty < 0.2)
    #expect(GroupDifference(Array(rows(0)[..<3]), rows(0)) == nil)
  }
}
