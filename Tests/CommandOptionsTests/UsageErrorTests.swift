// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CommandOptions

@Suite struct UsageErrorTests {
  @Test(arguments: [
    ("", "missing command; see 'stillstage --help'"),
    ("plya x", "unknown command 'plya'; did you mean 'play'?"),
    ("Render x", "unknown command 'Render'; did you mean 'render'?"),
    ("xyzzy", "unknown command 'xyzzy'; see 'stillstage --help'"),
    ("help plaay", "unknown command 'plaay'; did you mean 'play'?"),
    ("help play twice", "unknown command 'play twice'; see 'stillstage --help'"),
    ("hrtf", "missing command after 'hrtf'; see 'stillstage help hrtf'"),
    ("hrtf inof f", "unknown command 'hrtf inof'; did you mean 'hrtf info'?"),
    ("hrtf xyz f", "unknown command 'hrtf xyz'; see 'stillstage --help'"),
    ("trackers wach", "unknown command 'trackers wach'; did you mean 'trackers watch'?"),
    ("--hepl", "unknown option '--hepl'; did you mean '--help'?"),
    ("--order 3 play x", "unknown option '--order'; see 'stillstage --help'"),
    ("play x --hrft f", "unknown option '--hrft'; did you mean '--hrtf'?"),
    ("play x --hrft=f", "unknown option '--hrft'; did you mean '--hrtf'?"),
    ("play x --spatialise all", "unknown option '--spatialise'; did you mean '--spatialize'?"),
    ("play x --lat 40", "unknown option '--lat'; did you mean '--latency'?"),
    ("render x -order 3 -o y", "unknown option '-order'; did you mean '--order'?"),
    ("play x --nothing-like-it", "unknown option '--nothing-like-it'; see 'stillstage help play'"),
    (
      "play -dash.flac",
      "unknown option '-dash.flac'; for a file of that name, write './-dash.flac', "
        + "or see 'stillstage help play'"
    ),
    (
      "play x --json",
      "'play' has no option '--json'; use '--events FILE.jsonl', "
        + "which writes one JSON object per line"
    ),
    (
      "sink --loudness -16",
      "'sink' has no option '--loudness', because the loudness of a programme is known only when "
        + "the programme has ended; use '--gain', or the volume of the program"
    ),
    ("play x -q", "unknown option '-q'; see 'stillstage help play'"),
    (
      "play x --pose 0,0,0",
      "unknown option '--pose': it belongs to 'stillstage render'; see 'stillstage help play'"
    ),
    ("play x --hrtf", "missing value for '--hrtf <FILE>'; see 'stillstage help play'"),
    (
      "play x --hrtf --order 3", "missing value for '--hrtf <FILE>'; see 'stillstage help play'"
    ),
    ("play x --gain --order 3", "missing value for '--gain <DB>'; see 'stillstage help play'"),
    ("render x -o", "missing value for '-o <OUT.wav>'; see 'stillstage help render'"),
    (
      "trackers --json=yes",
      "the option '--json' takes no value; remove 'yes'"
    ),
    (
      "play x --order 9",
      "the value '9' is invalid for '--order <N>': it must be a whole number from 1 to 7"
    ),
    (
      "play x --block=0",
      "the value '0' is invalid for '--block <FRAMES>': it must be a whole number from 1 to 8192"
    ),
    (
      "play x --gain loud",
      "the value 'loud' is invalid for '--gain <DB>': it must be a number from -120 to 40"
    ),
    (
      "play x --decoder virtual-speakers",
      """
      the value 'virtual-speakers' is invalid for '--decoder <DESIGN>': it must be one of magls, \
      ls, magls-cov, direct, parametric
      """
    ),
    (
      "play x --latency -4",
      """
      the value '-4' is invalid for '--latency <auto|MS>': it must be auto or a number from 5 to \
      2000
      """
    ),
    (
      "render x -o y --pose 1,2",
      """
      the value '1,2' is invalid for '--pose <YAW,PITCH,ROLL>': it must be 3 values separated by \
      commas, each a number from -360 to 360
      """
    ),
    (
      "play x --mode traked",
      """
      the value 'traked' is invalid for '--mode <MODE>': it must be one of tracked, fixed, off; \
      did you mean 'tracked'?
      """
    ),
    (
      "play x --hrtf=",
      "the value '' is invalid for '--hrtf <FILE>': "
        + "it must be a path, or a URL if the command accepts one"
    ),
    (
      "completion tcsh",
      "the value 'tcsh' is invalid for '<SHELL>': it must be one of bash, zsh, fish"
    ),
    ("play", "missing argument '<INPUT>'; see 'stillstage help play'"),
    ("render x", "missing option '-o <OUT.wav>'; see 'stillstage help render'"),
    ("hrtf info", "missing argument '<FILE>'; see 'stillstage help hrtf info'"),
    (
      "hrtf export f -o d.wav",
      "missing option '--order <N>'; see 'stillstage help hrtf export'"
    ),
    ("play a b", "unexpected argument 'b'; see 'stillstage help play'"),
    ("play a b c", "2 unexpected arguments: 'b', 'c'; see 'stillstage help play'"),
  ])
  func usageErrorsHaveTheExpectedText(line: String, text: String) {
    let error = #expect(throws: UsageError.self) {
      try CommandParser.parse(line.split(separator: " ").map(String.init))
    }
    #expect(error?.description == text)
  }

  @Test(arguments: ["a\nb", "\u{1b}[31mred", "a\r\n", "\u{2028}", "\0", "\u{202e}"])
  func errorTextContainsNoControlCharacters(argument: String) {
    for line in [
      [argument], ["play", "--\(argument)"], ["play", "x", argument],
      ["play", "x", "--order", argument],
    ] {
      let error = #expect(throws: UsageError.self) { try CommandParser.parse(line) }
      let controls = error?.description.unicodeScalars.filter {
        [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
      }
      #expect(controls?.isEmpty == true)
    }
  }

  @Test func longArgumentIsTruncatedInTheError() {
    let error = #expect(throws: UsageError.self) {
      try CommandParser.parse(["play", "x", "--order", String(repeating: "9", count: 100_000)])
    }
    #expect((error?.description.count ?? .max) < 250)
  }

  @Test(arguments: [
    ("hrft", "hrtf", 1), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0), ("ordr", "order", 1),
    ("gian", "gain", 1), ("kitten", "sitting", 3),
  ])
  func editDistanceCountsEditsSymmetrically(a: String, b: String, distance: Int) {
    #expect(NearMatch.distance(Array(a), Array(b)) == distance)
    #expect(NearMatch.distance(Array(b), Array(a)) == distance)
  }

  @Test func singleDeletionInALongOptionIsRecognised() {
    for command in Program.commands {
      let names = command.options.map { "--\($0.name)" }
      for name in names where name.count >= 6 {
        for index in name.indices.dropFirst(2) {
          var typed = name
          typed.remove(at: index)
          guard !names.contains(typed) else { continue }
          #expect(NearMatch.of(typed, among: names) == name, "\(typed)")
        }
      }
    }
  }
}
