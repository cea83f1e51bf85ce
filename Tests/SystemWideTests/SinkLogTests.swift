// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Testing

@testable import CommandSupport
@testable import Playback

@Suite struct SinkLogTests {
  private static let second: Int64 = 1_000_000_000

  @Test func onlyTheLastPlaceOfANewStreamIsReported() {
    let log = SinkLog()
    let stream = ProgramStream(1, 2, on: nil)
    log.add(.routed(stream, .surround71), now: 0)
    log.add(.routed(stream, .stereo), now: Self.second / 100)
    #expect(log.take(now: Self.second / 10).isEmpty)
    #expect(
      log.take(now: Self.second) == ["program 1 (2 channels) plays to stillstage-stereo"])
    #expect(log.take(now: 2 * Self.second).isEmpty)
  }

  @Test func shortStreamsAreNotReported() {
    let log = SinkLog()
    let stream = ProgramStream(1, 2, on: nil)
    log.add(.routed(stream, .stereo), now: 0)
    log.add(.ended(stream), now: 1)
    #expect(log.take(now: Self.second).isEmpty)
  }

  @Test func lossOfTheServerIsReportedOnceForAllSinks() {
    let log = SinkLog()
    for layout in [SinkLayout.stereo, .surround51] { log.add(.started(layout), now: 0) }
    #expect(log.take(now: 0).count == 2)
    let lost = AudioOutputEvent(
      kind: .serverLost(reason: "gone", framesQueuedAtLoss: 0), timeNanoseconds: 0)
    for layout in [SinkLayout.stereo, .surround51] { log.add(.stream(layout, lost), now: 1) }
    #expect(log.take(now: 2).count == 1)
  }

  @Test func controlCharactersOfProgramsAreRemoved() {
    let log = SinkLog()
    var stream = ProgramStream(1, 2, on: nil)
    stream.application = "a\u{1B}[2Jb\nc"
    log.add(.routed(stream, nil), now: 0)
    let text = log.take(now: Self.second).joined()
    #expect(text.hasSuffix("plays directly to the output device"))
    #expect(!text.contains("\u{1B}") && !text.contains("\n"))
  }

  @Test func requestsAreLimitedInSpacingAndNumber() {
    var limit = RequestLimit(spacing: 10, count: 3, period: 1000)
    let times = (0..<2000).filter { limit.allows(at: Int64($0)) }
    #expect(times == [0, 10, 20, 1000, 1010, 1020])
  }
}
