// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import CommandOptions

@Suite struct GeneratedTextTests {
  @Test func helpListsAllOptionsAndArguments() {
    for command in Program.commands {
      let text = HelpText.about(.command(command))
      #expect(text.contains("USAGE: \(command.usage)\n"))
      for option in command.options { #expect(text.contains("  \(option.synopsis)")) }
      for argument in command.arguments { #expect(text.contains("\n  \(argument.name) ")) }
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(command.name)")
    }
    let overview = HelpText.about(.overview)
    for command in Program.commands { #expect(overview.contains("  \(command.name.rawValue)")) }
    #expect(overview.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  /// The typed command, the error line and the next prompt take three more rows.
  @Test func theShortListFitsOnASmallTerminal() {
    let lines = HelpText.brief.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count + 3 <= 24)
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(lines.contains { $0.contains("'stillstage --help'") })
    for word in Program.firstWords {
      #expect(lines.contains { $0.hasPrefix("  \(word) ") }, "\(word)")
    }
  }

  @Test func everyCommandHasTwoExamplesThatParse() throws {
    for command in Program.commands {
      #expect(command.examples.count >= 2, "\(command.name)")
      for example in command.examples {
        let words = example.line.prefix { $0 != ">" }.split(separator: " ").map(String.init)
        #expect(words.first == Program.name)
        switch try CommandParser.parse(Array(words.dropFirst())) {
        case .run(let parsed): #expect(parsed.name == command.name, "\(example.line)")
        case .completion: #expect(command.name == .completion, "\(example.line)")
        default: Issue.record("\(example.line)")
        }
        #expect(HelpText.about(.command(command)).contains("  \(example.line)\n"))
      }
    }
  }

  @Test func usageLinesMatchTheDocumentedForms() {
    let usages = Program.commands.map(\.usage)
    #expect(usages.contains("stillstage render INPUT -o OUT.wav [options]"))
    #expect(usages.contains("stillstage play INPUT [options]"))
    #expect(usages.contains("stillstage hrtf export FILE -o DEC.wav --order N [options]"))
    #expect(usages.contains("stillstage hrtf info FILE [--json]"))
  }

  @Test func textWrapsAtSpaces() {
    #expect(TextColumns.wrapped("one two three", width: 8) == ["one two", "three"])
    #expect(TextColumns.wrapped("unbreakable", width: 4) == ["unbreakable"])
    #expect(TextColumns.wrapped("", width: 4) == [])
    let long = TextColumns.definition("--a-very-long-option VALUE", "text", column: 10, width: 20)
    #expect(long == "  --a-very-long-option VALUE\n          text\n")
  }

  @Test func groffFormatsTheManualPageWithoutWarnings() throws {
    let folder = TemporaryFolder()
    let page = try folder.write(ManualPage.text, to: "stillstage.1")
    let run = try ProgramRun.of("groff", ["-man", "-ww", "-Tutf8", "-P-cbou", page])
    #expect(run.exitCode == 0)
    #expect(run.errors == "")
    for row in Program.optionsWithCommands { #expect(run.output.contains(row.option.synopsis)) }
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "KEYS", "FILES", "EXIT STATUS", "EXAMPLES"] {
      #expect(run.output.contains("\n\(section)\n"))
    }
  }

  @Test func roffControlCharactersAreEscaped() {
    #expect(Roff.escaped(".TP") == "\\&.TP")
    #expect(Roff.escaped("'a'") == "\\&'a'")
    #expect(Roff.escaped("a-b\\n") == "a\\-b\\en")
  }
}
