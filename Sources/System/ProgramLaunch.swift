// SPDX-License-Identifier: Apache-2.0

private import CSpawn
private import Glibc

/// How to start a program. The program starts with an empty signal mask.
public struct ProgramLaunch: Sendable {
  /// The source or target of a standard stream.
  public enum Stream: Sendable, Equatable {
    /// The corresponding stream of this process.
    case inherited
    case null
    /// An open descriptor of this process.
    case descriptor(Int32)
    /// A file that is opened for the program with these `open(2)` flags.
    case file(String, flags: Int32)
    /// The target of the program's standard output, as with `2>&1`; only for `errors`.
    case output
  }

  /// The process group of the program.
  public enum Group: Sendable {
    /// The process group of this process.
    case inherited
    case own
    /// A new group and session.
    case session
  }

  /// The program (a path, or a name to find in PATH) and its arguments.
  public var words: [String]
  /// The environment as `NAME=VALUE` entries; nil for the environment of this process.
  public var environment: [String]?
  public var input = Stream.null
  public var output = Stream.inherited
  public var errors = Stream.inherited
  public var group = Group.inherited
  /// Whether signals have their default action in the program.
  public var resetsSignals = false
  /// Whether the program inherits only its standard streams.
  public var closesDescriptors = false

  public init(_ words: [String]) { self.words = words }

  /// Starts the program.
  ///
  /// - Throws: the system's error, such as ENOENT if the program does not exist.
  public func start() throws(SystemError) -> ChildProcess {
    precondition(!words.isEmpty)
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // Set up output first, because the other actions could replace the descriptor that it copies.
    Self.add(output, STDOUT_FILENO, O_WRONLY, to: &actions)
    Self.add(input, STDIN_FILENO, O_RDONLY, to: &actions)
    Self.add(errors, STDERR_FILENO, O_WRONLY, to: &actions)
    if closesDescriptors { spawn_close_from(&actions, 3) }
    setSignals(&attributes)
    var process = pid_t()
    let result = Self.withCStrings(words) { words in
      guard let environment else {
        return posix_spawnp(&process, words[0]!, &actions, &attributes, words, environ)
      }
      return Self.withCStrings(environment) {
        posix_spawnp(&process, words[0]!, &actions, &attributes, words, $0)
      }
    }
    guard result == 0 else { throw SystemError(number: result) }
    return ChildProcess(id: process)
  }

  private func setSignals(_ attributes: inout posix_spawnattr_t) {
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var flags = POSIX_SPAWN_SETSIGMASK
    if resetsSignals { flags |= POSIX_SPAWN_SETSIGDEF }
    switch group {
    case .inherited: break
    case .own: flags |= POSIX_SPAWN_SETPGROUP
    // This is POSIX_SPAWN_SETSID, which Swift's Glibc module lacks.
    case .session: flags |= 0x80
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  private static func add(
    _ stream: Stream, _ target: Int32, _ mode: Int32, to actions: inout posix_spawn_file_actions_t
  ) {
    switch stream {
    case .inherited: break
    case .null: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", mode, 0)
    case .descriptor(let number): posix_spawn_file_actions_adddup2(&actions, number, target)
    case .file(let path, let flags):
      posix_spawn_file_actions_addopen(&actions, target, path, flags, 0o600)
    case .output: posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, target)
    }
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
