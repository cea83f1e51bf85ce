// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import CommandOptions

@Suite struct CompletionTests {
  @Test(arguments: Shell.allCases) func shellAcceptsItsCompletionScript(shell: Shell) throws {
    let folder = TemporaryFolder()
    let script = try folder.write(shell.completion, to: "script")
    let check = try ProgramRun.of(shell.rawValue, ["-n", script])
    #expect(check.exitCode == 0)
    #expect(check.errors == "")
  }

  @Test(arguments: [
    (["pl"], ["play"]),
    (["hrtf", ""], ["info", "export"]),
    (["play", "--hr"], ["--hrtf", "--hrtf-eq"]),
    (["play", "x", "--decoder", ""], ["magls", "ls", "magls-cov", "direct", "parametric"]),
    (["play", "x", "--tracker", "os"], ["osc:", "osc:any:"]),
    (["render", "x", "--timeo"], ["--timeout"]), (["fetch", "x", "--timeo"], ["--timeout"]),
    (["render", "x", "--limiter", "o"], ["on", "off"]),
    (["render", "x", "--out"], ["--output"]),
    (["hrtf", "export", "x", "--ord"], ["--order"]),
    (["hrtf", "export", "x", "--order", ""], ["1", "2", "3", "4", "5", "6", "7"]),
    (["hrtf", "info", "x", "--"], ["--json", "--help"]),
    (["trackers", "wa"], ["watch"]),
    (["trackers", "watch", "--da"], ["--data"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["play", "x", "--hrtf", "a"], ["a.sofa"]),
    (["play", "x", "--data", ""], ["folder"]),
    (["play", "a."], ["a.sofa"]),
    (["render", "x", "-o", "two"], ["two words.wav"]),
  ])
  func bashCompletes(words: [String], expected: [String]) throws {
    let folder = TemporaryFolder()
    let script = try folder.write(Shell.bash.completion, to: ".script")
    try folder.write("", to: "a.sofa")
    try folder.write("", to: "two words.wav")
    let typed = words.map { "'\($0)'" }.joined(separator: " ")
    let run = try ProgramRun.of(
      "bash",
      [
        "--norc", "-c",
        """
        cd '\(folder.path)'; mkdir folder; source '\(script)'; COMP_WORDS=(stillstage \(typed))
        COMP_CWORD=\(words.count); _stillstage; printf '%s\\n' "${COMPREPLY[@]}"
        """,
      ])
    #expect(run.errors == "")
    #expect(run.output.split(separator: "\n").map(String.init) == expected)
  }

  @Test(arguments: [
    ("play x --decoder ", ["direct", "ls", "magls", "magls-cov", "parametric"]),
    ("hrtf export x --ord", ["--order"]),
    ("pla", ["play"]), ("trackers watch x --d", ["--data"]), ("hrtf ", ["export", "info"]),
  ])
  func fishCompletes(line: String, expected: [String]) throws {
    let folder = TemporaryFolder()
    let script = try folder.write(Shell.fish.completion, to: "script")
    let run = try ProgramRun.of(
      "fish", ["--no-config", "-c", "source \(script); complete -C 'stillstage \(line)'"],
      environment: ["HOME": folder.path])
    #expect(run.errors == "")
    let words = run.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
    #expect(words.map(String.init) == expected)
  }
}
