// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// SIGINT and SIGTERM at random moments of all commands.
  ///
  /// The number of signals is in STILLSTAGE_SIGNALS; `make test-signals` sends 200.
  @Suite(.serialized) struct SignalTests {
    private static let count =
      getenv("STILLSTAGE_SIGNALS").flatMap { Int(String(cString: $0)) } ?? 30

    @Test func signalsEndEveryCommandSoon() throws {
      let stage = try SignalStage()
      defer { stage.end() }
      var random = SeededGenerator.forTest()
      var slowest: [String: Double] = [:]
      for round in 0..<Self.count {
        // Every command is tried before any is tried again.
        let trial = stage.trials[round % stage.trials.count]
        let signal = Bool.random(using: &random) ? SIGINT : SIGTERM
        let moment = Double.random(in: 0...1, using: &random)
        var result = try stage.run(trial, signal, after: moment * moment * trial.seconds)
        if result.seconds > trial.limit {
          recordRetry("took \(result.seconds) s: \(trial.name)")
          result = try stage.run(trial, signal, after: moment * moment * trial.seconds)
        }
        slowest[trial.name] = max(slowest[trial.name] ?? 0, result.seconds)
        #expect(result.seconds <= trial.limit, "\(trial.name)")
        // A signal before the program handles it ends the program in the usual way.
        let codes = [128 + signal, -signal] + (result.endsItself ? [0, 1] : [])
        #expect(codes.contains(result.code ?? 0), "\(trial.name): \(result.code ?? 0)")
        #expect(stage.strayFiles == [], "\(trial.name)")
        #expect(stage.strayProcesses == [], "\(trial.name)")
      }
      for (name, seconds) in slowest.sorted(by: { $0.value > $1.value }) {
        print("signal: \(name) ended within \(Int(seconds * 1000)) ms")
      }
    }
  }
}

/// A command line to interrupt.
struct SignalTrial {
  let name: String
  let words: [String]
  /// The longest time until the signal [s].
  let seconds: Double
  /// The longest time from the signal to the end [s].
  var limit = 0.5
  var environment: [String: String?] = [:]
  var isFrozen = false
}

/// The files and servers that the commands use.
private final class SignalStage {
  private(set) var trials: [SignalTrial] = []
  private let folder = TemporaryFolder()
  private let server: PrivatePulseServer
  private let frozen: PrivatePulseServer
  private let web: RunningProgram
  private let files: Set<String>

  init() throws {
    server = try PrivatePulseServer(sinkRate: 48_000)
    frozen = try PrivatePulseServer(sinkRate: 48_000)
    // The HTTP server accepts connections and never answers.
    let script = """
      import socket, time
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1], flush=True)
      kept = []
      while True: kept.append(listener.accept())
      """
    web = try RunningProgram(["/usr/bin/python3", "-c", script])
    let port = try web.line(with: "port ").text.dropFirst(5)
    let fixtures = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    let made = try ProgramRun.of(
      "/usr/bin/python3",
      [
        "\(fixtures)/Fixtures/make_sofa.py", folder.path, "samples-longest", "measurements-most",
        "plain",
      ], timeoutSeconds: 120)
    try #require(made.exitCode == 0, "apt install python3-h5py: \(made.errors)")
    let tone = (0..<30 * 48_000).map {
      0.2 * Float(sin(2 * Double.pi * 1000 * Double($0 % 48) / 48))
    }
    try FloatWAV(channels: [[Float]](repeating: tone, count: 6)).write(to: folder.file("bed.wav"))
    try FloatWAV(channels: [tone, tone]).write(to: folder.file("tone.wav"))
    var recording = "t,gx,gy,gz,ax,ay,az\n"
    for row in 0..<300_000 { recording += "\(Double(row) / 1000),0,0.1,0,0,0,9.81\n" }
    try folder.write(recording, to: "head.csv")
    try folder.write("#!/bin/sh\nexec sleep 60\n", to: "hang", mode: 0o755)
    for name in ["home", "run"] { mkdir(folder.file(name), 0o700) }
    files = folder.names
    makeTrials(url: "http://127.0.0.1:\(port)/a.m3u8")
  }

  func end() {
    frozen.stop()
    server.stop()
  }

  private func makeTrials(url: String) {
    let hang: [String: String?] = ["STILLSTAGE_SOFA": folder.file("hang")]
    func add(
      _ line: String, _ seconds: Double, limit: Double = 0.5, _ name: String = "",
      environment: [String: String?] = [:], isFrozen: Bool = false
    ) {
      let words = line.split(separator: " ").map { word in
        word.hasPrefix("$") ? folder.path + word.dropFirst() : String(word)
      }
      trials.append(
        SignalTrial(
          name: name.isEmpty ? line : name, words: words, seconds: seconds, limit: limit,
          environment: environment, isFrozen: isFrozen))
    }
    add("render $/bed.wav -o $/out.wav", 2)
    add("render $/tone.wav -o $/out.wav --hrtf $/samples-longest.sofa --order 7", 3)
    add("render $/tone.wav -o $/out.wav --hrtf $/measurements-most.sofa --decoder direct", 3)
    add("render $/bed.wav -o $/out.wav --loudness -16", 3)
    add("render $/tone.wav -o $/out.wav", 1, "render with a reader that hangs", environment: hang)
    add("render \(url) -o $/out.wav", 2, "render from a server that hangs")
    add("fetch \(url) -o $/kept", 2, "fetch from a server that hangs")
    add("play \(url)", 2, "play from a server that hangs")
    add("hrtf info $/measurements-most.sofa", 1)
    add("hrtf info $/plain.sofa", 1, "hrtf info with a reader that hangs", environment: hang)
    add("hrtf export $/samples-longest.sofa -o $/out.wav --order 7", 2)
    add("fuse $/head.csv -o $/out.csv", 2)
    add("render $/tone.wav -o $/out.wav --motion $/head.csv", 1, "render with a wrong motion")
    add("trackers", 1)
    add("trackers watch osc:39017", 2, "trackers watch of a silent tracker")
    add("trackers bridge osc:39017 osc.udp://127.0.0.1:39018", 1, "trackers bridge")
    add("demo -o $/demo.wav", 3)
    add("play $/tone.wav --tracker none", 3)
    add("record -o $/out.wav --input ears.monitor", 2, limit: 1)
    add("inputs watch", 1)
    add("sink --tracker none", 2)
    add("routes", 0.3)
    add("routes", 2, "routes of a frozen server", isFrozen: true)
    add("inputs", 2, "inputs of a frozen server", isFrozen: true)
    add("play $/tone.wav --tracker none", 3, "play on a frozen server", isFrozen: true)
    add("record -o $/out.wav", 2, limit: 1, "record from a frozen server", isFrozen: true)
    add("sink --tracker none", 2, "sink on a frozen server", isFrozen: true)
    add("bench fusion $/head.csv", 2)
    add("bench render --quick", 3)
    add("bench adaptation", 2)
  }

  /// Starts a command and sends the signal after a time [s]. `endsItself` is whether the command
  /// had ended before the signal, or had given up a frozen server.
  func run(
    _ trial: SignalTrial, _ signal: Int32, after delay: Double
  ) throws -> (code: Int32?, seconds: Double, endsItself: Bool) {
    let environment: [String: String?] = [
      "PULSE_SERVER": trial.isFrozen ? frozen.address : server.address, "HOME": folder.file("home"),
      "XDG_RUNTIME_DIR": folder.file("run"), "PIPEWIRE_RUNTIME_DIR": folder.file("run"),
      "DBUS_SESSION_BUS_ADDRESS": nil,
    ]
    if trial.isFrozen {
      // An answer shows that the server has accepted the connections of programs that have ended.
      // Otherwise they would fill its queue, and this program would be refused a connection.
      try frozen.pactl(["info"])
      frozen.freeze()
    }
    defer { frozen.thaw() }
    let program = try RunningProgram(
      [Product.stillstage] + trial.words,
      environment: environment.merging(trial.environment) { $1 })
    let hadEnded = program.wait(seconds: delay) != nil
    let start = monotonicNow()
    kill(program.pid, signal)
    let code = program.wait(seconds: 20)
    let end = hadEnded ? start : program.endTime ?? monotonicNow()
    let hasGivenUp = program.lines.contains { $0.text.contains("did not answer within") }
    return (code, Double(end - start) * 1e-9, hadEnded || hasGivenUp)
  }

  /// Temporary files that a command has left behind. Deletes what the commands wrote.
  var strayFiles: [String] {
    let new = folder.names.subtracting(files)
    let found = new.filter { $0.hasSuffix(".part") || $0.contains(".new-") }
    for name in new where !["home", "run"].contains(name) {
      _ = try? ProgramRun.of("rm", ["-rf", folder.file(name)])
    }
    return found.sorted()
  }

  /// The command lines of processes that still use the folder, shortly after the end.
  var strayProcesses: [String] {
    var found: [String] = []
    _ = waitUntil(seconds: 1) {
      found = (SystemFile.names(in: "/proc") ?? []).filter { Int32($0) != nil }.compactMap { id in
        let line = try? SystemFile.contents("/proc/\(id)/cmdline")
        let text = String(decoding: line ?? [], as: UTF8.self)
        let isOurs = text.contains(folder.path) && text.contains("stillstage-sofa")
        return isOurs ? text.replacing("\0", with: " ") : nil
      }
      return found.isEmpty
    }
    return found
  }
}
