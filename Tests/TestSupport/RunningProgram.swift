// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
private import Synchronization
private import System

/// A program that runs during the test, in its own process group, and is killed with the test.
///
/// ## Threading
/// `lines` may be read from any thread; everything else belongs to the test's thread.
public final class RunningProgram: Sendable {
  /// The process and its process group.
  public let pid: Int32

  /// A line that the program wrote, and its time of arrival on CLOCK_MONOTONIC, in nanoseconds.
  public struct Line: Sendable {
    public let text: String
    public let time: Int64
  }

  public enum Failure: Error, CustomStringConvertible {
    case cannotStart(String, reason: String)
    case nothingFits(waitedSeconds: Double, lines: [String])

    public var description: String {
      switch self {
      case .cannotStart(let program, let reason): "\(program) cannot be started: \(reason)"
      case .nothingFits(let seconds, let lines):
        "nothing fits after \(seconds) s in:\n" + lines.suffix(60).joined(separator: "\n")
      }
    }
  }

  fileprivate final class Output: Sendable {
    let lines = Mutex<[Line]>([])
    let bytes = Mutex<[UInt8]>([])
    let hasEnded = Atomic(false)
  }

  private let output = Output()
  private let ended = Mutex<(code: Int32, time: Int64)?>(nil)
  private let process: ChildProcess
  private let guardian: ProcessGuardian
  /// This end of the program's standard input; -1 if that is empty.
  private let input: Int32

  /// The kind of the program's standard input.
  public enum Input: Sendable {
    case empty
    /// A pipe that `type` writes to.
    case pipe
    /// A terminal that `type` types on.
    case terminal
  }

  /// Starts a program and collects both its outputs line by line.
  ///
  /// - Parameters:
  ///   - words: the program (a path, or a name to find in PATH) and its arguments.
  ///   - environment: changes to this process's environment; nil removes a variable. TERM is
  ///     "xterm" on a terminal, unless it is changed here.
  ///   - hasTerminal: the same as `input: .terminal`.
  ///   - input: the kind of its standard input.
  public init(
    _ words: [String], environment: [String: String?] = [:], hasTerminal: Bool = false,
    input: Input = .empty
  ) throws {
    var launch = ProgramLaunch(words)
    let onTerminal = hasTerminal || input == .terminal
    let terminal: [String: String?] = onTerminal ? ["TERM": "xterm"] : [:]
    let variables = terminal.merging(environment) { $1 }
    launch.environment = ProgramRun.merged(variables)
    launch.resetsSignals = true
    launch.group = .own
    launch.errors = .output
    let follower: Int32
    var (near, far) = (Int32(-1), [Int32]())
    if onTerminal {
      let terminal = try PseudoTerminal.open()
      // A session leader opens the terminal, which therefore becomes the terminal of the session.
      launch.group = .session
      launch.output = .file(terminal.path, flags: O_RDWR)
      launch.input = .output
      (near, far, follower) = (terminal.near, [terminal.far], terminal.near)
    } else {
      let ends = try openPipe()
      launch.output = .descriptor(ends.writer)
      (follower, far) = (ends.reader, [ends.writer])
      if input == .pipe {
        // Writing to a program that has ended must not end the test.
        signal(SIGPIPE, SIG_IGN)
        let ends = try openPipe()
        launch.input = .descriptor(ends.reader)
        near = ends.writer
        far.append(ends.reader)
      }
    }
    defer { for descriptor in far { close(descriptor) } }
    do throws(SystemError) {
      process = try launch.start()
      guardian = try ProcessGuardian(killing: -process.id)
    } catch { throw Failure.cannotStart(words[0], reason: error.description) }
    pid = process.id
    self.input = near
    let output = output
    Worker().start { follow(follower, into: output) }
  }

  deinit {
    kill(-pid, SIGKILL)
    wait()
    if input >= 0 { close(input) }
  }

  /// All lines so far.
  public var lines: [Line] { output.lines.withLock { $0 } }

  /// Everything that the program wrote so far, also without a line feed.
  public var bytes: [UInt8] { output.bytes.withLock { $0 } }

  /// Changes the size of the terminal, and informs the program (SIGWINCH).
  public func resize(columns: Int, rows: Int) {
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(input, UInt(TIOCSWINSZ), &size)
  }

  /// Returns the first line from index `start` on that contains `text`.
  public func line(
    with text: String, from start: Int = 0, seconds: Double = 10
  ) throws -> Line {
    var found: Line?
    let isFound = waitUntil(seconds: seconds) {
      found = lines.dropFirst(start).first { $0.text.contains(text) }
      return found != nil
    }
    guard isFound, let found else {
      throw Failure.nothingFits(
        waitedSeconds: seconds, lines: ["wanted: " + text] + lines.map(\.text))
    }
    return found
  }

  /// Types keys, or writes to the program's standard input.
  public func type(_ keys: String) {
    precondition(input >= 0, "its input is empty")
    _ = write(input, keys, keys.utf8.count)
  }

  /// Waits for the end; returns the exit code or the negated signal number, nil on timeout.
  @discardableResult
  public func wait(seconds: Double = 10) -> Int32? {
    _ = waitUntil(seconds: seconds) {
      ended.withLock { ended in
        if ended == nil, let ending = process.ending() {
          ended = (ending.code ?? 0, monotonic_nanoseconds())
        }
        return ended != nil
      }
    }
    guard let code = ended.withLock({ $0?.code }) else { return nil }
    _ = waitUntil(seconds: 1) { output.hasEnded.load(ordering: .acquiring) }
    return code
  }

  /// The time when the test saw that the program had ended, on CLOCK_MONOTONIC, in nanoseconds.
  public var endTime: Int64? { ended.withLock { $0?.time } }
}

/// Waits until a condition holds; returns false on timeout.
public func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
  let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
  while !condition() {
    if monotonic_nanoseconds() > end { return false }
    usleep(1000)
  }
  return true
}

/// Reads a program's output to its end.
private func follow(_ descriptor: Int32, into output: RunningProgram.Output) {
  var pending: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(descriptor, &part, part.count)
    // A terminal returns EIO after its last user has closed it.
    guard count > 0 else { break }
    pending += part[..<count]
    output.bytes.withLock { $0 += part[..<count] }
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      let bytes = pending[..<end].filter { $0 != UInt8(ascii: "\r") }
      let line = RunningProgram.Line(
        text: String(decoding: bytes, as: UTF8.self), time: monotonic_nanoseconds())
      output.lines.withLock { $0.append(line) }
      pending.removeSubrange(...end)
    }
  }
  output.hasEnded.store(true, ordering: .releasing)
}

private func openPipe() throws -> (reader: Int32, writer: Int32) {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { throw failure("a pipe") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}

func failure(_ what: String) -> RunningProgram.Failure {
  .cannotStart(what, reason: String(cString: strerror(errno)))
}
