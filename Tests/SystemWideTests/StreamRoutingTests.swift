// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import SoundServer
import TestSupport
import Testing

@testable import Playback

@Suite struct StreamRoutingTests {
  private static let layouts: [SinkLayout] = [.stereo, .surround51, .surround71]
  private static let second: Int64 = 1_000_000_000
  private let widest = SinkLayout.surround71.sinkName

  private func contents(
    _ streams: [ProgramStream], default defaultSink: String? = nil,
    _ layouts: [SinkLayout] = Self.layouts
  ) -> ServerContents {
    ServerContents(
      [Sink("ears"), Sink("box")] + layouts.map { Sink($0.sinkName) },
      default: defaultSink ?? widest, streams)
  }

  private func routing(_ roles: [String] = [], ownsDefault: Bool = true) -> StreamRouting {
    StreamRouting(layouts: Self.layouts, roles: RoleTreatments(roles), ownsDefault: ownsDefault)
  }

  /// The only move of a new stream on the widest sink; nil if it stays.
  private func place(_ stream: ProgramStream, _ roles: [String] = []) -> String? {
    var routing = routing(roles)
    return routing.moves(for: contents([stream]), realSink: "ears", now: 0).first?.sink
  }

  @Test(arguments: [
    (1, "stillstage-stereo"), (2, "stillstage-stereo"), (3, "stillstage-5.1"),
    (4, "stillstage-5.1"), (5, "stillstage-5.1"), (6, "stillstage-5.1"), (7, nil), (8, nil),
    (12, nil),
  ])
  func newStreamGoesToTheNarrowestSinkWithItsChannels(channels: Int, sink: String?) {
    #expect(place(ProgramStream(1, channels, on: widest)) == sink)
  }

  @Test func heightChannelsGoToTheSinkThatHasThem() {
    let bed: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ]
    var stream = ProgramStream(1, 8, on: widest)
    stream.layout = .speakers(bed + [.topFrontLeft, .topFrontRight])
    let all = SinkLayout.allCases
    #expect(SinkLayout.for(stream, among: all) == .surround714)
    #expect(SinkLayout.for(stream, among: Self.layouts) == .surround71)
    stream.layout = .speakers(bed + [.backLeft, .backRight])
    #expect(SinkLayout.for(stream, among: all) == .surround71)
    #expect(SinkLayout.for(stream, among: []) == nil)
  }

  @Test func virtualSinksHaveTheirOwnNamesAndChannels() {
    for layout in SinkLayout.allCases {
      #expect(SinkLayout(sinkName: layout.sinkName) == layout)
      #expect(SinkLayout.isOurs(layout.sinkName))
    }
    #expect(SinkLayout.allCases.map(\.channelCount) == [2, 6, 8, 12])
    #expect(SinkLayout(sinkName: "ears") == nil && !SinkLayout.isOurs("ears"))
  }

  @Test func plainRolesGoToTheRealSink() {
    #expect(place(ProgramStream(1, 1, on: widest, role: "phone")) == "ears")
    #expect(place(ProgramStream(1, 2, on: widest, role: "event")) == "ears")
    #expect(place(ProgramStream(1, 2, on: widest, role: "Notification")) == "ears")
    #expect(place(ProgramStream(1, 2, on: widest, role: "music")) == "stillstage-stereo")
    let roles = ["phone=spatial", "game=plain"]
    #expect(place(ProgramStream(1, 2, on: widest, role: "phone"), roles) == "stillstage-stereo")
    #expect(place(ProgramStream(1, 2, on: widest, role: "game"), roles) == "ears")
    #expect(place(ProgramStream(1, 2, on: widest, role: "event"), roles) == "ears")
  }

  @Test func plainStreamsFollowTheRealSink() {
    var routing = routing()
    var stream = ProgramStream(1, 1, on: widest, role: "phone")
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).count == 1)
    stream.sink = "ears"
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 1).isEmpty)
    let moves = routing.moves(for: contents([stream]), realSink: "box", now: 2)
    #expect(moves == [.init(stream: 1, sink: "box")])
  }

  @Test func streamThatBeginsOnARealSinkStaysUntilTheUserChoosesAVirtualOne() {
    var routing = routing()
    var stream = ProgramStream(1, 6, on: "ears")
    #expect(routing.moves(for: contents([stream]), realSink: "box", now: 0).isEmpty)
    stream.channelCount = 2
    #expect(routing.moves(for: contents([stream]), realSink: "box", now: 1).isEmpty)
    stream.sink = widest
    let moves = routing.moves(for: contents([stream]), realSink: "box", now: 2)
    #expect(moves == [.init(stream: 1, sink: "stillstage-stereo")])
  }

  @Test(arguments: ["ears", "box", "stillstage-5.1", "stillstage-7.1"])
  func streamMovedByHandStays(target: String) {
    var routing = routing()
    var stream = ProgramStream(1, 2, on: widest)
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).count == 1)
    stream.sink = "stillstage-stereo"
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 1).isEmpty)
    stream.sink = target
    for time in 1...20 {
      let now = Int64(time) * Self.second
      #expect(routing.moves(for: contents([stream]), realSink: "ears", now: now).isEmpty)
    }
    #expect(routing.streamsMovedByHand == [1])
    // Further moves by hand count as well.
    stream.sink = "stillstage-5.1"
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 1 << 40).isEmpty)
  }

  @Test func streamWhoseChannelsChangeIsPlacedAgain() {
    var routing = routing()
    var stream = ProgramStream(1, 2, on: "stillstage-stereo")
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).isEmpty)
    stream.channelCount = 6
    let moves = routing.moves(for: contents([stream]), realSink: "ears", now: 1)
    #expect(moves == [.init(stream: 1, sink: "stillstage-5.1")])
    // On a real sink, the user's choice remains.
    stream.sink = "box"
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 2).isEmpty)
    stream.channelCount = 8
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 3).isEmpty)
  }

  @Test func unansweredRequestIsRepeatedOnceASecondAndThriceInAll() {
    var routing = routing()
    let stream = ProgramStream(1, 2, on: widest)
    var times: [Int64] = []
    for time in 0..<400 {
      let now = Int64(time) * Self.second / 20
      if !routing.moves(for: contents([stream]), realSink: "ears", now: now).isEmpty {
        times.append(now)
      }
    }
    #expect(times == [0, Self.second, 2 * Self.second])
  }

  @Test(arguments: [false, true])
  func streamThatFollowsTheDefaultSinkComesBack(isReportedBefore: Bool) {
    var routing = routing()
    var stream = ProgramStream(1, 8, on: widest)
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).isEmpty)
    stream.sink = "box"
    if isReportedBefore {
      _ = routing.moves(for: contents([stream]), realSink: "ears", now: 10)
    }
    let after = contents([stream], default: "box")
    let moves = routing.moves(for: after, realSink: "ears", now: Self.second / 10)
    #expect(moves == [.init(stream: 1, sink: widest)])
  }

  @Test func withoutOwnershipOfTheDefaultAMoveToItIsByHand() {
    var routing = routing(ownsDefault: false)
    var stream = ProgramStream(1, 8, on: widest)
    #expect(
      routing.moves(for: contents([stream], default: "ears"), realSink: "ears", now: 0).isEmpty)
    stream.sink = "box"
    let after = contents([stream], default: "box")
    #expect(routing.moves(for: after, realSink: "ears", now: 1).isEmpty)
    #expect(routing.streamsMovedByHand == [1])
  }

  @Test func streamOfARemovedSinkIsPlacedAgain() {
    var routing = routing()
    var stream = ProgramStream(1, 6, on: "stillstage-5.1")
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).isEmpty)
    // The server rescues the stream to the widest sink, which serves it meanwhile.
    stream.sink = widest
    let without = contents([stream], [.stereo, .surround71])
    #expect(routing.moves(for: without, realSink: "ears", now: 1).isEmpty)
    let moves = routing.moves(for: contents([stream]), realSink: "ears", now: 2)
    #expect(moves == [.init(stream: 1, sink: "stillstage-5.1")])
  }

  @Test func streamRescuedToARealSinkComesBack() {
    var routing = routing()
    var stream = ProgramStream(1, 6, on: "stillstage-5.1")
    #expect(routing.moves(for: contents([stream]), realSink: "ears", now: 0).isEmpty)
    stream.sink = "ears"
    let none = contents([stream], default: "ears", [])
    #expect(routing.moves(for: none, realSink: "ears", now: 1).isEmpty)
    let moves = routing.moves(for: contents([stream]), realSink: "ears", now: 2)
    #expect(moves == [.init(stream: 1, sink: "stillstage-5.1")])
  }

  /// A random sequence of what users, programs and the server can do.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func everySequenceSettlesAndOnlyExistingSinksAreRequested(seed: UInt64) {
    var random = SeededGenerator(seed)
    var routing = routing()
    var streams: [ProgramStream] = []
    var now: Int64 = 0
    for step in 0..<300 {
      let present = Self.layouts.filter { _ in Int.random(in: 0..<10, using: &random) > 0 }
      let names = ["ears", "box"] + present.map(\.sinkName)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        streams.append(
          ProgramStream(
            UInt64(step), Int.random(in: 1...12, using: &random),
            on: names.randomElement(using: &random),
            role: ["phone", "music", nil].randomElement(using: &random) ?? nil))
      case 1 where !streams.isEmpty:
        streams.remove(at: Int.random(in: 0..<streams.count, using: &random))
      case 2 where !streams.isEmpty:
        let index = Int.random(in: 0..<streams.count, using: &random)
        streams[index].sink = names.randomElement(using: &random)
      default: break
      }
      for index in streams.indices where !names.contains(streams[index].sink ?? "") {
        streams[index].sink = names.last
      }
      let contents = contents(streams, default: names.last, present)
      for move in routing.moves(for: contents, realSink: "ears", now: now) {
        #expect(names.contains(move.sink))
        guard let index = streams.firstIndex(where: { $0.id == move.stream }) else {
          Issue.record("stream \(move.stream) does not exist")
          continue
        }
        #expect(streams[index].sink != move.sink)
        streams[index].sink = move.sink
      }
      now += Int64.random(in: 0...Self.second, using: &random)
    }
    // Without further events, at most one round of moves follows.
    for round in 0..<4 {
      let moves = routing.moves(for: contents(streams), realSink: "ears", now: now)
      if round >= 1 { #expect(moves.isEmpty, "round \(round)") }
      for move in moves {
        for index in streams.indices where streams[index].id == move.stream {
          streams[index].sink = move.sink
        }
      }
      now += 5 * Self.second
    }
    let placed = streams.filter { !routing.streamsMovedByHand.contains($0.id) }
    for stream in placed where SinkLayout.isOurs(stream.sink ?? "") {
      #expect(stream.sink == SinkLayout.for(stream, among: Self.layouts)?.sinkName)
    }
  }
}
