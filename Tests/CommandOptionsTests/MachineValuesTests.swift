// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc
import TestSupport
import Testing

/// The values that completion looks up on the machine.
@Suite struct MachineValuesTests {
  private let entry = "\(ProgramRun.builtProducts)/stillstage"
  private let folder = TemporaryFolder()

  /// A data folder with two HRTF sets and a headphone profile, and a profile of the user's own.
  private func environment() throws -> [String: String] {
    for name in [
      "data", "data/HRTF", "data/Calibration", "data/Calibration/headphones", "config",
      "config/stillstage", "config/stillstage/headphones",
    ] { mkdir(folder.file(name), 0o755) }
    for name in [
      "data/HRTF/mine.sofa", "data/HRTF/another one.sofa", "data/HRTF/README.md",
      "data/Calibration/headphones/HD 600.json", "config/stillstage/headphones/own.txt",
      "config/stillstage/headphones/.hidden.txt",
    ] { try folder.write("", to: name) }
    return [
      "STILLSTAGE_DATA": folder.file("data"), "XDG_CONFIG_HOME": folder.file("config"),
      "HOME": folder.path,
    ]
  }

  @Test func hrtfSetsAndHeadphonesAreFoundInTheDataFolder() throws {
    let variables = try environment()
    let sets = try ProgramRun.of(entry, ["completion-values", "hrtf"], environment: variables)
    #expect(sets.output == "another one.sofa\nmine.sofa\n")
    let names = try ProgramRun.of(
      entry, ["completion-values", "headphones"], environment: variables)
    #expect(names.output == "HD 600\nown\n")
    #expect(try ProgramRun.of(entry, ["completion-values", "shoes"]).exitCode == 2)
  }

  /// The processor time is judged, because other programs may be running.
  @Test(arguments: MachineValues.allCases) func noValueTakesLong(kind: MachineValues) throws {
    let variables = try environment().merging(
      ["PULSE_SERVER": "unix:" + folder.file("nothing"), "XDG_RUNTIME_DIR": folder.path]
    ) { $1 }
    let run = try ProgramRun.of(
      "bash",
      [
        "-c", "TIMEFORMAT='%U %S'; time '\(entry)' completion-values \(kind.rawValue) > /dev/null",
      ], environment: variables)
    #expect(run.exitCode == 0)
    let times = run.errors.split { " \n".contains($0) }.compactMap { Double($0) }
    #expect(times.count == 2, "\(run.errors)")
    #expect(times.reduce(0, +) < 0.08, "\(run.errors)")
  }

  @Test func aSilentServerIsNotWaitedFor() throws {
    let silent = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(silent) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(silent, pointer, length)
        _ = listen(silent, 8)
        _ = getsockname(silent, pointer, &length)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    // The limit of the program is 80 ms; the rest is for other programs.
    let time = try ContinuousClock().measure {
      let run = try ProgramRun.of(
        entry, ["completion-values", "sinks"],
        environment: ["PULSE_SERVER": "tcp:127.0.0.1:\(port)", "XDG_RUNTIME_DIR": folder.path])
      #expect(run.output == "")
    }
    #expect(time < .milliseconds(1500), "\(time)")
  }

  // MARK: Shells

  /// A program in PATH with values of its own, and the scripts of the shells.
  private func stub() throws -> String {
    mkdir(folder.file("bin"), 0o755)
    try folder.write(
      """
      #!/bin/sh
      [ "$1" = completion-values ] || { echo "<$*>"; exit; }
      case $2 in
        sinks) printf 'ears.one\\tHeadphones\\nears.two\\tLoudspeakers\\n' ;;
        trackers) printf 'AA:BB:01\\tFirst\\nAA:BB:02\\tSecond\\nunit7\\tThird\\n' ;;
        hrtf) printf 'mine.sofa\\n' ;;
        headphones) printf 'HD600\\nflat\\n' ;;
      esac

      """, to: "bin/stillstage", mode: 0o755)
    try folder.write(Shell.zsh.completion, to: "bin/_stillstage")
    try folder.write(Shell.bash.completion, to: "script.bash")
    return folder.file("bin")
  }

  /// A command line, and what the key Tab makes of it.
  static let lines = [
    ("play x --sink ears.o", "ears.one"), ("play x --tracker uni", "unit7"),
    ("play x --device-tracker AA:BB:02", "AA:BB:02"), ("play x --hrtf mi", "mine.sofa"),
    ("play x --headphones HD", "HD600"), ("trackers watch uni", "unit7"),
    ("calibrate uni", "unit7"),
  ]

  @Test(arguments: ["bash", "zsh"], lines)
  func theTabKeyCompletes(shell: String, line: (typed: String, word: String)) throws {
    let bin = try stub()
    let begin =
      shell == "bash"
      ? "source \(folder.file("script.bash"))"
      : "fpath=(\(bin) $fpath); autoload -U compinit; compinit -u -D"
    let options = shell == "bash" ? ["--norc", "--noprofile", "-i"] : ["-f", "-i"]
    let program = try RunningProgram(
      [shell] + options,
      environment: ["PATH": "\(bin):/usr/bin:/bin", "HOME": folder.path, "PS1": "> "],
      input: .terminal)
    program.type("cd \(bin); \(begin); echo re''ady\n")
    _ = try program.line(with: "ready", seconds: 60)
    program.type("stillstage \(line.typed)\t")
    // The shell has to complete the line before it gets the end of it.
    usleep(700_000)
    program.type("\n")
    let result = try program.line(with: "<", seconds: 30)
    #expect(result.text.contains("\(line.word)>") || result.text.contains("\(line.word) >"))
    program.type("exit\n")
  }

  @Test(arguments: lines) func fishOffersTheValues(line: (typed: String, word: String)) throws {
    let bin = try stub()
    let script = try folder.write(Shell.fish.completion, to: "script.fish")
    let run = try ProgramRun.of(
      "fish", ["--no-config", "-c", "source \(script); complete -C 'stillstage \(line.typed)'"],
      environment: ["HOME": folder.path, "PATH": "\(bin):/usr/bin:/bin"])
    #expect(run.errors == "")
    let words = run.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    #expect(words.contains(line.word), "\(words)")
  }

  @Test(arguments: [
    ("AA", ["AA:BB:01", "AA:BB:02"]), ("AA:BB:", ["01", "02"]), ("AA:BB:02", ["02"]),
    ("osc:a", ["any:"]), ("un", ["unit7"]),
  ])
  func bashCompletesWordsWithColons(typed: String, expected: [String]) throws {
    let bin = try stub()
    // bash divides words at colons.
    let parts = typed.replacing(":", with: " : ").split(separator: " ")
    let words = ["stillstage", "play", "x", "--tracker"] + parts.map(String.init)
    let run = try ProgramRun.of(
      "bash",
      [
        "--norc", "-c",
        """
        source '\(folder.file("script.bash"))'; COMP_WORDS=(\(words.joined(separator: " ")))
        COMP_CWORD=\(words.count - 1); _stillstage; printf '%s\\n' "${COMPREPLY[@]}"
        """,
      ], environment: ["PATH": "\(bin):/usr/bin:/bin"])
    #expect(run.errors == "")
    #expect(run.output.split(separator: "\n").map(String.init) == expected)
  }
}
