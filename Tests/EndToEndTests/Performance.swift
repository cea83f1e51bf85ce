// SPDX-License-Identifier: Apache-2.0

import CRealtime
import FoundationEssentials
import Glibc
import TestSupport

/// A running `stillstage play`, optionally with a virtual head tracker.
final class Performance {
  /// A line of `--events`.
  struct Event: Decodable {
    let event: String
    /// Seconds since the program began.
    let t: Double
    let sink: String?
    let formFactor: String?
    let treatment: String?
    let reason: String?
    let layout: String?
    let mode: String?
    let framesLost: Int?
    let queueMilliseconds: Double?
    let total: Int?
  }

  let program: RunningProgram
  /// The process ID of `stillstage` itself.
  let pid: pid_t
  private let folder = TemporaryFolder()
  private var head: HeadControl?

  convenience init(
    _ scene: Scene, path: String? = nil, on server: String, _ arguments: [String] = [],
    tracker: [String]? = nil, hasTerminal: Bool = false, environment: [String: String] = [:]
  ) throws {
    try self.init(
      path: path ?? scene.path, on: server, arguments, tracker: tracker, hasTerminal: hasTerminal,
      environment: environment)
  }

  /// - Parameters:
  ///   - executable: the player.
  ///   - path: the file to play.
  ///   - server: the sound server's address.
  ///   - arguments: additional arguments of `play`.
  ///   - tracker: arguments of the virtual tracker; nil for no tracker.
  ///   - hasTerminal: whether it runs in a shell on a terminal, which prints its settings before
  ///     and after.
  ///   - environment: additional variables.
  init(
    executable: String = Product.stillstage, path: String, on server: String,
    _ arguments: [String] = [], tracker: [String]? = nil, hasTerminal: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    // The sound is compared with renders, which keep the level of the source.
    let play =
      [executable, "play", path, "--events", folder.file("events.jsonl"), "--loudness", "off"]
      + arguments
    let socket = folder.file("head")
    var words = play
    if let tracker {
      guard access("/usr/bin/umockdev-wrapper", X_OK) == 0 else {
        throw HeadControl.Failure(
          text: "umockdev is missing: apt install umockdev gir1.2-umockdev-1.0 python3-gi")
      }
      words =
        ["umockdev-wrapper", "/usr/bin/python3", Self.trackerScript, "--control", socket]
        + tracker + ["--"] + play
    } else {
      words = ["sh", "-c", "echo \"mock: program $$\"; exec \"$@\"", "sh"] + play
    }
    if hasTerminal {
      let script = "trap : INT; echo before $(stty -g); \"$@\"; echo code $?; echo after $(stty -g)"
      words = ["sh", "-c", script, "sh"] + words
    }
    program = try RunningProgram(
      words,
      environment: ["PULSE_SERVER": server, "HOME": folder.path, "LC_ALL": "C"].merging(
        environment, uniquingKeysWith: { $1 }),
      hasTerminal: hasTerminal)
    let announcement = try program.line(with: "mock: program ").text
    pid = pid_t(announcement.split(separator: " ").last ?? "") ?? -1
    if tracker != nil { head = try HeadControl(socket) }
  }

  private static var trackerScript: String {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    return root + "/Calibration/virtual-tracker/virtual_tracker.py"
  }

  /// The events so far.
  var events: [Event] {
    guard let data = try? Data(contentsOf: URL(filePath: folder.file("events.jsonl"))) else {
      return []
    }
    return data.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(Event.self, from: Data($0))
    }
  }

  /// Waits for the `count`th event with a name.
  @discardableResult
  func event(_ name: String, count: Int = 1, seconds: Double = 5) throws -> Event {
    var found: [Event] = []
    let isThere = waitUntil(seconds: seconds) {
      found = events.filter { $0.event == name }
      if found.count < count { usleep(4000) }
      return found.count >= count
    }
    guard isThere else {
      throw RunningProgram.Failure.nothingFits(
        waitedSeconds: seconds,
        lines: ["wanted: \(name)"] + events.map { "\($0)" } + program.lines.map(\.text))
    }
    return found[count - 1]
  }

  /// Waits until the player is connected to the server and, if there is one, its tracker.
  func begin() throws {
    try event("connected", seconds: 60)
    if head != nil { try event("tracker-connected", seconds: 10) }
  }

  /// Sends a command to the virtual tracker. Returns when it was executed, CLOCK_MONOTONIC [ns].
  @discardableResult
  func sendToTracker(_ command: String) throws -> Int64 {
    guard let head else { throw HeadControl.Failure(text: "there is no tracker") }
    return try head.send(command)
  }

  /// Moves the virtual head. Returns when its first report was sent, CLOCK_MONOTONIC [ns].
  func move(_ command: String) throws -> Int64 {
    let start = program.lines.count
    try sendToTracker(command)
    let line = try program.line(with: "mock: sent \(command)", from: max(0, start - 2)).text
    return Int64(line.split(separator: " ").last ?? "") ?? 0
  }

  /// Sends a signal and waits for the end. Returns the exit code and the elapsed milliseconds.
  func end(_ signal: Int32 = SIGTERM) -> (code: Int32?, milliseconds: Double) {
    let start = monotonic_nanoseconds()
    kill(pid, signal)
    let code = program.wait(seconds: 5)
    let end = program.endTime ?? monotonic_nanoseconds()
    return (code, Double(end - start) * 1e-6)
  }
}

/// The connection to a virtual tracker's command socket.
private final class HeadControl {
  struct Failure: Error {
    let text: String
  }

  private let descriptor: Int32

  init(_ path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let isConnected = waitUntil(seconds: 5) {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
    }
    guard isConnected else { throw Failure(text: "no virtual tracker listens at \(path)") }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func send(_ command: String) throws -> Int64 {
    let line = command + "\n"
    guard write(descriptor, line, line.utf8.count) > 0 else { throw Failure(text: "not sent") }
    var answer = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &answer, answer.count)
    let text = String(decoding: answer.prefix(max(0, count)), as: UTF8.self)
    let number = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).last.flatMap { Int64($0) }
    guard let number else { throw Failure(text: "\(command): \(text)") }
    return number
  }
}

/// Tries up to three times while `attempt` returns that the sound was broken, since a test machine
/// may be too busy for a queue of 50 ms.
func whileBroken(_ attempt: () throws -> Bool) throws {
  for _ in 1...2 {
    if try !attempt() { return }
    recordRetry("the sound was broken")
  }
  _ = try attempt()
}

func sleepSeconds(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

/// Returns the milliseconds between two times, rounded to 0.1 for printing.
func milliseconds(_ start: Int64, _ end: Int64) -> Double {
  (Double(end - start) * 1e-5).rounded() / 10
}

func monotonicNow() -> Int64 { monotonic_nanoseconds() }
