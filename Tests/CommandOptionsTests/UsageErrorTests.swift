// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CommandOptions

@Suite struct UsageErrorTests {
  @Test(arguments: [
    ("", "Missing expected argument '<COMMAND>'. See 'stillstage --help'."),
    ("plya x", "Unknown command 'plya'. Did you mean 'play'?"),
    ("Render x", "Unknown command 'Render'. Did you mean 'render'?"),
    ("xyzzy", "Unknown command 'xyzzy'. See 'stillstage --help'."),
    ("help plaay", "Unknown command 'plaay'. Did you mean 'play'?"),
    ("help play twice", "Unknown command 'play twice'. See 'stillstage --help'."),
    ("hrtf", "Missing expected argument '<COMMAND>' after 'hrtf'. See 'stillstage help hrtf'."),
    ("hrtf inof f", "Unknown command 'hrtf inof'. Did you mean 'hrtf info'?"),
    ("hrtf xyz f", "Unknown command 'hrtf xyz'. See 'stillstage --help'."),
    ("trackers wach", "Unknown command 'trackers wach'. Did you mean 'trackers watch'?"),
    ("--hepl", "Unknown option '--hepl'. Did you mean '--help'?"),
    ("--order 3 play x", "Unknown option '--order'. See 'stillstage --help'."),
    ("play x --hrft f", "Unknown option '--hrft'. Did you mean '--hrtf'?"),
    ("play x --hrft=f", "Unknown option '--hrft'. Did you mean '--hrtf'?"),
    ("play x --spatialise all", "Unknown option '--spatialise'. Did you mean '--spatialize'?"),
    ("play x --lat 40", "Unknown option '--lat'. Did you mean '--latency'?"),
    ("render x -order 3 -o y", "Unknown option '-order'. Did you mean '--order'?"),
    ("play x --nothing-like-it", "Unknown option '--nothing-like-it'. See 'stillstage help play'."),
    ("play x -q", "Unknown option '-q'. See 'stillstage help play'."),
    (
      "play x --pose 0,0,0",
      "Unknown option '--pose'. It belongs to 'stillstage render'. See 'stillstage help play'."
    ),
    ("play x --hrtf", "Missing value for '--hrtf <FILE>'. See 'stillstage help play'."),
    (
      "play x --hrtf --order 3", "Missing value for '--hrtf <FILE>'. See 'stillstage help play'."
    ),
    ("play x --gain --order 3", "Missing value for '--gain <DB>'. See 'stillstage help play'."),
    ("render x -o", "Missing value for '-o <OUT.wav>'. See 'stillstage help render'."),
    (
      "trackers --json=yes",
      "The option '--json' does not take any value, but 'yes' was specified."
    ),
    (
      "play x --order 9",
      "The value '9' is invalid for '--order <N>': it must be a whole number from 1 to 7."
    ),
    (
      "play x --block=0",
      "The value '0' is invalid for '--block <FRAMES>': it must be a whole number from 1 to 8192."
    ),
    (
      "play x --gain loud",
      "The value 'loud' is invalid for '--gain <DB>': it must be a number from -120 to 40."
    ),
    (
      "play x --decoder virtual-speakers",
      """
      The value 'virtual-speakers' is invalid for '--decoder <DESIGN>': it must be one of magls, \
      ls, magls-cov, direct, parametric.
      """
    ),
    (
      "play x --latency -4",
      """
      The value '-4' is invalid for '--latency <auto|MS>': it must be auto or a number from 5 to \
      2000.
      """
    ),
    (
      "render x -o y --pose 1,2",
      """
      The value '1,2' is invalid for '--pose <YAW,PITCH,ROLL>': it must be 3 values separated by \
      commas, each a number from -360 to 360.
      """
    ),
    (
      "play x --mode traked",
      """
      The value 'traked' is invalid for '--mode <MODE>': it must be one of tracked, fixed, off. \
      Did you mean 'tracked'?
      """
    ),
    (
      "play x --hrtf=",
      "The value '' is invalid for '--hrtf <FILE>': it must be a path or URL."
    ),
    (
      "completion tcsh",
      "The value 'tcsh' is invalid for '<SHELL>': it must be one of bash, zsh, fish."
    ),
    ("play", "Missing expected argument '<INPUT>'. See 'stillstage help play'."),
    ("render x", "Missing expected argument '-o <OUT.wav>'. See 'stillstage help render'."),
    ("hrtf info", "Missing expected argument '<FILE>'. See 'stillstage help hrtf info'."),
    (
      "hrtf export f -o d.wav",
      "Missing expected argument '--order <N>'. See 'stillstage help hrtf export'."
    ),
    ("play a b", "Unexpected argument 'b'. See 'stillstage help play'."),
    ("play a b c", "2 unexpected arguments: 'b', 'c'. See 'stillstage help play'."),
  ])
  func aWrongLineHasOneErrorText(line: String, text: String) {
    let error = #expect(throws: UsageError.self) {
      try CommandParser.parse(line.split(separator: " ").map(String.init))
    }
    #expect(error?.description == text)
  }

  @Test(arguments: ["a\nb", "\u{1b}[31mred", "a\r\n", "\u{2028}", "\0", "\u{202e}"])
  func whateverIsTypedTheErrorIsOnePlainLine(argument: String) {
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

  @Test func aLongArgumentIsCut() {
    let error = #expect(throws: UsageError.self) {
      try CommandParser.parse(["play", "x", "--order", String(repeating: "9", count: 100_000)])
    }
    #expect((error?.description.count ?? .max) < 250)
  }

  @Test(arguments: [
    ("hrft", "hrtf", 1), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0), ("ordr", "order", 1),
    ("gian", "gain", 1), ("kitten", "sitting", 3),
  ])
  func editsAreCounted(a: String, b: String, distance: Int) {
    #expect(NearMatch.distance(Array(a), Array(b)) == distance)
    #expect(NearMatch.distance(Array(b), Array(a)) == distance)
  }

  @Test func everySingleMisspellingOfALongOptionIsRecognised() {
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
