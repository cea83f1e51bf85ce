// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import TestSupport
import Testing

@testable import CommandSupport
@testable import UserFiles

@Suite struct ConfigFileTests {
  private func defaults(_ text: String) throws -> OptionDefaults {
    try OptionDefaults(Array(text.utf8), path: "c.json")
  }

  private func command(_ line: String, _ config: String) throws -> ParsedCommand {
    let words = line.split(separator: " ").map(String.init)
    guard case .run(let command) = try CommandParser.parse(words) else { throw NothingToRun() }
    return try defaults(config).applied(to: command)
  }

  private struct NothingToRun: Error {}

  @Test func valuesOfEveryKindReachTheirOptions() throws {
    let config = """
      {"order": 3, "gain": -2.5, "hrtf": "mine.sofa", "limiter": true, "pose": [10, -5, 0],
       "decoder": "ls", "track": 2, "sink": "headset", "latency": 80}
      """
    let render = try command("render a -o b", config)
    #expect(render[Options.order] == 3)
    #expect(render[Options.gain] == -2.5)
    #expect(render[Options.hrtf] == "mine.sofa")
    #expect(render[Options.limiter])
    #expect(render[Options.pose]?.yawDegrees == 10 && render[Options.pose]?.pitchDegrees == -5)
    #expect(render[Options.decoder] == .ls)
    #expect(render[Options.track] == 2)
    let play = try command("play a", config)
    #expect(play[Options.sink] == "headset")
    #expect(play[Options.latency] == .milliseconds(80))
    #expect(play[Options.order] == 3)
  }

  @Test func commandLineOverridesDefaults() throws {
    let config = #"{"order":3,"gain":-6,"block":64}"#
    let render = try command("render a -o b --order 7 --gain=1", config)
    #expect(render[Options.order] == 7)
    #expect(render[Options.gain] == 1)
    #expect(render[Options.block] == 64)
    #expect(render.isGiven(Options.order) && !render.isGiven(Options.block))
  }

  @Test func defaultOfAnOptionDoesNotReplaceARequiredOneOfTheSameName() throws {
    let config = #"{"output": "pulse"}"#
    #expect(try command("play a", config)[Options.soundServer] == .pulse)
    #expect(try command("render a -o b", config)[Options.renderOutput] == "b")
    #expect(throws: (any Error).self) { try command("render a", config) }
  }

  @Test func defaultsApplyOnlyToPlayAndRender() throws {
    let export = try command("hrtf export f -o w --order 2", #"{"decoder":"ls"}"#)
    #expect(export[Options.decoder] == .magls)
  }

  @Test(arguments: [
    (
      #"{"ordr": 3}"#,
      "'play' and 'render' have no option 'ordr' that can have a default; did you mean 'order'?"
    ),
    (#"{"json": true}"#, "'play' and 'render' have no option 'json' that can have a default"),
    (#"{"order": 8}"#, "'order' is '8', but must be a whole number from 1 to 7"),
    (#"{"order": "x"}"#, "'order' is 'x', but must be a whole number from 1 to 7"),
    (
      #"{"decoder": "magl"}"#,
      "'decoder' is 'magl', but must be one of magls, ls, magls-cov, direct, "
        + "parametric; did you mean 'magls'?"
    ),
    (#"{"limiter": 1}"#, "'limiter' is '1', but must be one of on, off"),
    (#"{"output": "a"}"#, "'output' is 'a', but must be one of auto, pulse, pipewire"),
    (
      #"{"order": null}"#,
      "'order' must be text, a number, true, false or a list of numbers"
    ),
    (
      #"{"order": {"a": 1}}"#,
      "'order' must be text, a number, true, false or a list of numbers"
    ),
    (#"["order"]"#, "it is not a JSON object"), (#"{"order": "#, "it is not valid JSON"),
    ("", "it is not valid JSON"),
  ])
  func invalidDefaultsAreRefusedWithFileAndReason(text: String, reason: String) {
    #expect {
      try defaults(text)
    } throws: {
      "\($0)".hasPrefix("c.json: \(reason)") && !"\($0)".contains("\n")
    }
  }

  @Test func falseFlagEqualsAnAbsentFlag() throws {
    #expect(try defaults(#"{"keep-front": false}"#) == defaults("{}"))
    #expect(try defaults(#"{"keep-front": true}"#) != defaults("{}"))
  }

  @Test func optionalOptionsCanHaveDefaults() throws {
    #expect(!OptionDefaults.names.contains("json"))
    for name in ["tracker", "mode", "sink", "latency", "hrtf", "layout", "order", "to", "rate"] {
      #expect(OptionDefaults.names.contains(name))
    }
  }

  @Test func withoutAFileThereAreNoDefaults() throws {
    let folder = TemporaryFolder()
    #expect(try OptionDefaults(in: UserFolder(path: folder.path)) == OptionDefaults())
    try folder.write(#"{"order": 2}"#, to: "config.json")
    #expect(try OptionDefaults(in: UserFolder(path: folder.path)) != OptionDefaults())
  }

  @Test func folderInPlaceOfTheFileIsRefused() throws {
    let folder = TemporaryFolder()
    _ = try ProgramRun.of("mkdir", [folder.file("config.json")])
    #expect(throws: UserFileError.self) {
      try OptionDefaults(in: UserFolder(path: folder.path))
    }
  }

  @Test func userFolderFollowsTheEnvironment() {
    func path(_ variables: [String: String]) -> String? { UserFolder { variables[$0] }?.path }
    #expect(path(["XDG_CONFIG_HOME": "/c", "HOME": "/h"]) == "/c/stillstage")
    #expect(path(["XDG_CONFIG_HOME": "c", "HOME": "/h"]) == "/h/.config/stillstage")
    #expect(path(["XDG_CONFIG_HOME": "", "HOME": "/h"]) == "/h/.config/stillstage")
    #expect(path([:]) == nil)
  }
}
