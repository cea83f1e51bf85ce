// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
private import Synchronization

/// A program that runs beside the test, in a process group of its own that dies with the test.
///
/// ## Threading
/// `lines` may be read from any thread; the rest is the test's.
public final class RunningProgram: Sendable {
  /// Of the program that was started, and of its process group.
  public let pid: Int32

  /// A line that the program wrote, and when it came, CLOCK_MONOTONIC [ns].
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

  private final class Output: Sendable {
    let lines = Mutex<[Line]>([])
    let hasEnded = Atomic(false)
  }

  private let output = Output()
  private let ended = Mutex<(code: Int32, time: Int64)?>(nil)
  /// The other side of the program's standard input; -1 where that is empty.
  private let input: Int32
  private let guardian: (pid: pid_t, pipe: Int32)

  /// Starts a program; both its outputs are kept line by line.
  ///
  /// - Parameters:
  ///   - words: the program, a path or a name to be found in PATH, and its arguments.
  ///   - environment: changes to this process's environment; nil takes a variable away.
  ///   - hasTerminal: it gets a terminal of its own, on which `type` types; otherwise its input is
  ///     empty.
  public init(
    _ words: [String], environment: [String: String?] = [:], hasTerminal: Bool = false
  ) throws {
    let ends = try hasTerminal ? openTerminal() : openPipe()
    defer { close(ends.far) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let path = ends.path {
      // Opened by the leader of a session: so it becomes the session's terminal.
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, ends.far, STDOUT_FILENO)
    }
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    pid = try spawn(
      words, environment: environment, &actions,
      flags: hasTerminal ? newSession : POSIX_SPAWN_SETPGROUP)
    input = hasTerminal ? ends.near : -1
    guardian = try startGuardian(of: pid)
    follow(ends.near)
  }

  deinit {
    kill(-pid, SIGKILL)
    wait()
    kill(guardian.pid, SIGKILL)
    waitpid(guardian.pid, nil, 0)
    close(guardian.pipe)
    if input >= 0 { close(input) }
  }

  /// All lines so far.
  public var lines: [Line] { output.lines.withLock { $0 } }

  /// The first line from index `start` on that holds `text`.
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

  /// Presses keys.
  public func type(_ keys: String) {
    precondition(input >= 0, "there is no terminal")
    _ = write(input, keys, keys.utf8.count)
  }

  /// Waits for the end; the exit code, or minus the signal; nil when it takes longer.
  @discardableResult
  public func wait(seconds: Double = 10) -> Int32? {
    var status: Int32 = 0
    _ = waitUntil(seconds: seconds) {
      ended.withLock { ended in
        if ended == nil, waitpid(pid, &status, WNOHANG) == pid {
          let signal = status & 0x7f
          ended = (signal == 0 ? (status >> 8) & 0xff : -signal, monotonic_nanoseconds())
        }
        return ended != nil
      }
    }
    guard let code = ended.withLock({ $0?.code }) else { return nil }
    _ = waitUntil(seconds: 1) { output.hasEnded.load(ordering: .acquiring) }
    return code
  }

  /// When the program was seen to have ended, CLOCK_MONOTONIC [ns].
  public var endTime: Int64? { ended.withLock { $0?.time } }

  private func follow(_ descriptor: Int32) {
    let job = Unmanaged.passRetained(
      FollowJob(descriptor) { [output] line in
        guard let line else { return output.hasEnded.store(true, ordering: .releasing) }
        output.lines.withLock { $0.append(Line(text: line, time: monotonic_nanoseconds())) }
      })
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        Unmanaged<FollowJob>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, job.toOpaque())
    pthread_detach(thread)
  }
}

/// Waits until something is true; false if that takes too long.
public func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
  let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
  while !condition() {
    if monotonic_nanoseconds() > end { return false }
    usleep(1000)
  }
  return true
}

/// Reads a program's output to its end.
private final class FollowJob {
  private let descriptor: Int32
  private let take: @Sendable (String?) -> Void

  init(_ descriptor: Int32, _ take: @escaping @Sendable (String?) -> Void) {
    self.descriptor = descriptor
    self.take = take
  }

  func run() {
    var pending: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &part, part.count)
      // A terminal says EIO once its last user is gone.
      guard count > 0 else { break }
      pending += part[..<count]
      while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        take(String(decoding: pending[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self))
        pending.removeSubrange(...end)
      }
    }
    take(nil)
  }
}

/// POSIX_SPAWN_SETSID, which Swift's Glibc leaves out.
private let newSession: Int32 = 0x80

private typealias Ends = (near: Int32, far: Int32, path: String?)

private func openPipe() throws -> Ends {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { throw failure("a pipe") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1], nil)
}

private func openTerminal() throws -> Ends {
  // What posix_openpt, unlockpt and ptsname do; Swift's Glibc leaves these out, and the constants.
  let (lock, number) = (UInt(0x4004_5431), UInt(0x8004_5430))
  let near = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
  var (locked, index) = (Int32(0), UInt32(0))
  guard near >= 0, ioctl(near, lock, &locked) == 0, ioctl(near, number, &index) == 0 else {
    throw failure("a terminal")
  }
  let path = "/dev/pts/\(index)"
  // Open until the program has it: otherwise the reader sees an end before the start.
  return (near, open(path, O_RDWR | O_NOCTTY | O_CLOEXEC), path)
}

private func startGuardian(of group: pid_t) throws -> (pid: pid_t, pipe: Int32) {
  let ends = try openPipe()
  defer { close(ends.near) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, ends.near, STDIN_FILENO)
  let words = ["/bin/sh", "-c", "read line; kill -KILL -\(group)"]
  let pid = try spawn(words, environment: [:], &actions, flags: POSIX_SPAWN_SETPGROUP)
  return (pid, ends.far)
}

private func failure(_ what: String) -> RunningProgram.Failure {
  .cannotStart(what, reason: String(cString: strerror(errno)))
}

private func spawn(
  _ words: [String], environment: [String: String?],
  _ actions: inout posix_spawn_file_actions_t, flags: Int32
) throws -> pid_t {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  // The threads of the test runner hold signals back, and children inherit that.
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(flags | POSIX_SPAWN_SETSIGMASK))
  let variables = ProgramRun.merged(environment)
  var argv = words.map { strdup($0) } + [nil]
  var envp = variables.map { strdup($0) } + [nil]
  defer { for text in argv + envp { free(text) } }
  var pid = pid_t()
  let result = posix_spawnp(&pid, words[0], &actions, &attributes, &argv, &envp)
  guard result == 0 else {
    throw RunningProgram.Failure.cannotStart(
      words[0], reason: String(cString: strerror(result)))
  }
  return pid
}
