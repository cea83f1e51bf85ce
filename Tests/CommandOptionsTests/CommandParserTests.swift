// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CommandOptions

@Suite struct CommandParserTests {
  /// Returns the command that a line requests; its words are split at spaces.
  private func parsed(_ line: String) throws -> ParsedCommand {
    guard case .run(let command) = try CommandParser.parse(words(line)) else {
      throw NothingToRun()
    }
    return command
  }

  private struct NothingToRun: Error {}

  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  @Test func everyCommandInTheTableParses() throws {
    #expect(Program.commands.map(\.name) == CommandName.allCases)
    for command in Program.commands where command.name != .completion {
      let arguments = command.arguments.map { _ in "x" }
      let required = command.options.filter(\.isRequired).flatMap {
        ["--\($0.name)", $0.name == "to" ? "5.1" : "1"]
      }
      let line = (command.path + arguments + required).joined(separator: " ")
      #expect(try parsed(line).name == command.name)
    }
  }

  @Test func fetchTakesRatesAndRenditions() throws {
    let plain = try parsed("fetch http://h/m.m3u8 -o kept")
    #expect(plain[Arguments.presentation] == "http://h/m.m3u8")
    #expect(plain[Options.fetchOutput] == "kept" && plain[Options.renditions] == .best)
    #expect(plain[Options.maxBitrate] == nil && plain[Options.preferTreatment] == .multichannel)
    for (text, rate) in [
      ("256k", 256_000.0), ("1.5M", 1_500_000), ("192000", 192_000), ("1000000k", 1e9),
    ] {
      #expect(try parsed("fetch u -o d --max-bitrate \(text)")[Options.maxBitrate] == rate)
    }
    for text in ["k", "0", "-5k", "256kb", "2G", "0.5k", "nan", "1 k"] {
      #expect(throws: UsageError.self) {
        _ = try CommandParser.parse(["fetch", "u", "-o", "d", "--max-bitrate", text])
      }
    }
    func renditions(_ text: String) throws -> RenditionsChoice {
      try parsed("fetch u -o d --renditions \(text)")[Options.renditions]
    }
    #expect(try renditions("all") == .all && renditions("best") == .best)
    #expect(try renditions("English,Deutsch") == .named(["English", "Deutsch"]))
    #expect(throws: UsageError.self) { try renditions("a,,b") }
  }

  /// A tuning depends neither on the style nor on the picture, and the spatial separator is used.
  @Test(arguments: ["--field-of-view 90", "--separator neural", "--mix in-frame"])
  func analysisHasNoOptionsOfAMix(option: String) throws {
    _ = try parsed("mix analyse x -o t.json")
    #expect(throws: UsageError.self) { try parsed("mix analyse x -o t.json \(option)") }
  }

  @Test func omittedOptionsHaveTheDocumentedDefaults() throws {
    let play = try parsed("play a.flac")
    #expect(play[Arguments.input] == "a.flac")
    #expect(play[Options.order] == 5)
    #expect(play[Options.block] == 256)
    #expect(play[Options.gain] == 0)
    #expect(play[Options.decoder] == .magls)
    #expect(play[Options.layout] == "auto")
    #expect(play[Options.hrtf] == nil)
    #expect(play[Options.hrtfEqualization] == .none)
    #expect(play[Options.spatialize] == .all)
    #expect(play[Options.tracker] == .auto)
    #expect(play[Options.latency] == .auto)
    #expect(play[Options.mode] == .tracked)
    let render = try parsed("render a.flac -o b.wav")
    #expect(render[Options.renderOutput] == "b.wav")
    #expect(render[Options.renderTarget] == .binaural)
    #expect(!render[Options.limiter])
    #expect(render[Options.pose] == nil)
    #expect(render[Options.rate] == nil)
    #expect(try parsed("demo")[Options.demoOutput] == nil)
    #expect(!(try parsed("trackers")[Options.json]))
  }

  /// The axes that `calibrate` prints may begin with a minus sign.
  @Test func axesMayBeginWithAMinusSign() throws {
    for text in ["-y,x,z", "y,-x,z", "x,y,z", "+X,-Z,Y"] {
      let play = try parsed("play a.flac --tracker-axes \(text) --mode off")
      #expect(play[Options.trackerAxes] == text && play[Options.mode] == .off)
      #expect(try parsed("play a.flac --tracker-axes=\(text)")[Options.trackerAxes] == text)
    }
    for text in ["-y,x", "x,y,y", "a,b,c", "x,y,z,x", "--mode", ""] {
      #expect(throws: UsageError.self) { try parsed("play a.flac --tracker-axes=\(text)") }
    }
    #expect(throws: UsageError.self) { try parsed("play a.flac --tracker-axes --mode off") }
  }

  @Test func routeIsAutomaticByDefault() throws {
    #expect(try parsed("play a.flac")[Options.route] == .auto)
    #expect(try parsed("play a.flac --route speakers")[Options.route] == .speakers)
    #expect(try parsed("routes --json")[Options.json])
  }

  @Test func repeatedArgumentTakesTheRemainingWords() throws {
    let bench = try parsed("bench fusion a.csv --json b.csv c.csv")
    #expect(bench.all(Arguments.recordings) == ["a.csv", "b.csv", "c.csv"])
    #expect(bench[Arguments.recordings] == "a.csv")
    #expect(bench[Options.json])
    #expect(throws: UsageError.missingArgument("<FILE>", command: "bench fusion")) {
      try parsed("bench fusion")
    }
    #expect(throws: UsageError.unexpectedArguments(["b.csv"], command: "fuse")) {
      try parsed("fuse a.csv b.csv -o c.csv")
    }
    #expect(bench.command.usage.hasPrefix("stillstage bench fusion FILE..."))
    let adaptation = try parsed("bench adaptation")
    #expect(adaptation.all(Arguments.traces) == [])
    #expect(try parsed("bench adaptation a b").all(Arguments.traces) == ["a", "b"])
    #expect(adaptation.command.usage.hasPrefix("stillstage bench adaptation [TRACE.csv...]"))
  }

  @Test(arguments: [
    "render in -o out --order 3", "render --order=3 --output=out in",
    "render -o out --order 3 -- in", "render -o=out in --order 7 --order 3",
  ])
  func equivalentSpellingsParseAlike(line: String) throws {
    let render = try parsed(line)
    #expect(render[Arguments.input] == "in")
    #expect(render[Options.renderOutput] == "out")
    #expect(render[Options.order] == 3)
    #expect(render.isGiven(Options.order))
    #expect(!render.isGiven(Options.gain))
  }

  @Test func valuesAreConvertedToTheirTypes() throws {
    let render = try parsed(
      "render in -o out --pose -30,10.5,+0 --gain -6 --limiter on --layout 7.1.4 --rate 44100")
    #expect(
      render[Options.pose] == PoseAngles(yawDegrees: -30, pitchDegrees: 10.5, rollDegrees: 0))
    #expect(render[Options.gain] == -6)
    #expect(render[Options.limiter])
    #expect(render[Options.layout] == "7.1.4")
    #expect(render[Options.rate] == 44100)
    let play = try parsed("play in --tracker 3-1.2 --latency 62.5 --mode off --sink a=b")
    #expect(play[Options.tracker] == .id("3-1.2"))
    #expect(play[Options.latency] == .milliseconds(62.5))
    #expect(play[Options.mode] == .off)
    #expect(play[Options.sink] == "a=b")
    #expect(try parsed("play in --tracker none")[Options.tracker] == .none)
  }

  @Test func wordsAfterADoubleDashAreArguments() throws {
    #expect(try parsed("play -- --help")[Arguments.input] == "--help")
    #expect(try parsed("play -")[Arguments.input] == "-")
    #expect(try parsed("render --output=-x in")[Options.renderOutput] == "-x")
  }

  @Test(arguments: [
    ("--help", HelpTopic.overview), ("-h", .overview), ("help", .overview),
    ("hrtf --help", .group("hrtf")), ("help hrtf", .group("hrtf")),
  ])
  func helpRequestsAreRecognised(line: String, topic: HelpTopic) throws {
    guard case .help(topic) = try CommandParser.parse(words(line)) else {
      Issue.record("no help for \(line)")
      return
    }
  }

  @Test(arguments: ["play --help", "play -h", "help play", "play --bogus --help", "play a b -h"])
  func helpTakesPrecedenceOverErrors(line: String) throws {
    guard case .help(.command(let command)) = try CommandParser.parse(words(line)) else {
      Issue.record("no help for \(line)")
      return
    }
    #expect(command.name == .play)
  }

  @Test(arguments: [
    "nan", "inf", "-inf", "infinity", "0x10", "1e400", "", " 1", "1 ", "1dB", "1,5", "--1", "1e",
    "٣", "-120.5", "41",
  ])
  func invalidNumbersAreRefused(text: String) {
    #expect(Options.gain.specification.grammar.value(of: text) == nil)
  }

  @Test(arguments: ["0", "8", "-1", "3.0", "3x", "", "٣", "99999999999999999999", "1e0"])
  func invalidWholeNumbersAreRefused(text: String) {
    #expect(Options.order.specification.grammar.value(of: text) == nil)
  }

  @Test(arguments: [
    "1,2", "1,2,3,4", "1,,3", ",,", "1,2,x", "1;2;3", "1, 2,3", "0,0,361", "nan,0,0",
  ])
  func invalidPosesAreRefused(text: String) {
    #expect(Options.pose.specification.grammar.value(of: text) == nil)
  }

  @Test func optionNamesAreUniqueInACommand() {
    for command in Program.commands {
      let names = command.options.map(\.name)
      #expect(Set(names).count == names.count, "\(command.name)")
      let shorts = command.options.compactMap(\.short)
      #expect(Set(shorts).count == shorts.count, "\(command.name)")
    }
  }
}
