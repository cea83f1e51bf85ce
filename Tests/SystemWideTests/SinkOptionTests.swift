// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import TestSupport
import Testing

@testable import CommandSupport
@testable import Playback
@testable import UserFiles

@Suite struct SinkOptionTests {
  private func command(_ line: String, config: String = "{}") throws -> ParsedCommand {
    let folder = TemporaryFolder()
    try folder.write(config, to: "config.json")
    let words = line.split(separator: " ").map(String.init)
    guard case .run(let command) = try CommandParser.parse(words) else { throw NothingToRun() }
    return try OptionDefaults(ofSinkIn: UserFolder(path: folder.path)).applied(to: command)
  }

  private struct NothingToRun: Error {}

  @Test func defaultsSuitLiveSound() throws {
    let sink = try command("sink")
    #expect(sink[Options.sinkLayouts] == [.stereo, .surround51, .surround71])
    #expect(sink[Options.sinkUpmix] == .lowLatency && sink[Options.sinkLimiter])
    #expect(sink[Options.takesDefault])
    #expect(!sink.controlsSink)
    #expect(try command("sink --mode off").controlsSink)
  }

  @Test func ownObjectInTheConfigurationFileCounts() throws {
    let config = """
      {"order": 2, "upmix": "off", "sink": {"order": 7, "layouts": "stereo,7.1.4", "mode": "fixed",
       "roles": "game=plain", "default": false, "sink": "headset", "limiter": false}}
      """
    let sink = try command("sink", config: config)
    #expect(sink[Options.order] == 7 && sink[Options.sinkUpmix] == .lowLatency)
    #expect(sink[Options.sinkLayouts] == [.stereo, .surround714])
    #expect(sink[Options.sinkMode] == .fixed && !sink.controlsSink)
    #expect(RoleTreatments(sink[Options.sinkRoles])["game"] == .plain)
    #expect(!sink[Options.takesDefault] && sink[Options.sink] == "headset")
    #expect(!sink[Options.sinkLimiter])
    let play = try #require(try? OptionDefaults(Array(config.utf8), path: "c.json"))
    #expect(play != OptionDefaults())
  }

  @Test(arguments: [
    (
      #"{"sink": {"ordr": 3}}"#,
      "'sink' has no option 'ordr' that can have a default; did you mean 'order'?"
    ),
    (#"{"sink": {"status": true}}"#, "'sink' has no option 'status' that can have a default"),
    (#"{"sink": {"order": 9}}"#, "'sink.order' is '9', but must be a whole number"),
    (#"{"sink": {"order": {}}}"#, "the value of 'sink.order' must be text"),
  ])
  func invalidDefaultsAreRefused(config: String, reason: String) {
    #expect {
      try command("sink", config: config)
    } throws: {
      "\($0)".contains("config.json: \(reason)")
    }
  }

  @Test func sinkOfPlayIsNoDefaultOfTheCommand() throws {
    let sink = try command("sink", config: #"{"sink": "headset"}"#)
    #expect(sink[Options.sink] == nil)
  }
}
