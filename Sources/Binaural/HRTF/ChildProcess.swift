// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CSpawn
import Glibc

/// A short-lived program whose standard output is read to its end, within a time and a size.
struct ChildProcess {
  enum Ending: Equatable {
    case exited(Int32)
    case signalled(Int32)
    case timedOut
    case tooMuchOutput
    case cancelled
    /// Another part of the program has already taken the status.
    case unknown
  }

  var executable: String
  var arguments: [String]
  /// Looks the executable up in PATH where it has no slash.
  var searchesPath = false
  var timeoutSeconds: Double
  var maximumBytes: Int
  /// Asked every 50 ms or so; true stops the program.
  var isCancelled: () -> Bool = { false }

  /// Runs the program; nil where it cannot be started. No process and no descriptor is left behind.
  func run() -> (output: [UInt8], ending: Ending)? {
    let deadline = monotonic_nanoseconds() + Int64(timeoutSeconds * 1e9)
    var ends: [Int32] = [-1, -1]
    guard spawn_pipe(&ends) == 0 else { return nil }
    let child = spawn(output: ends[1])
    close(ends[1])
    defer { close(ends[0]) }
    guard let child else { return nil }
    let (output, early) = readAll(ends[0], until: deadline)
    return (output, finish(child, early: early, deadline: deadline))
  }

  private func spawn(output: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
    defer { posix_spawn_file_actions_destroy(&actions) }
    guard posix_spawnattr_init(&attributes) == 0 else { return nil }
    defer { posix_spawnattr_destroy(&attributes) }
    // Output first: it may itself be descriptor 0, 1 or 2 where the program runs without them.
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    spawn_close_from(&actions, 3)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var child: pid_t = 0
    let status = withCStrings([executable] + arguments) { arguments in
      withCStrings(Self.environment) { environment in
        searchesPath
          ? posix_spawnp(&child, executable, &actions, &attributes, arguments, environment)
          : posix_spawn(&child, executable, &actions, &attributes, arguments, environment)
      }
    }
    return status == 0 ? child : nil
  }

  /// The few variables a loader or a sanitizer needs, and no hanging crash reporter.
  private static var environment: [String] {
    let names = [
      "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR",
      "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
    ]
    return ["SWIFT_BACKTRACE=enable=no"]
      + names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }

  private func readAll(_ descriptor: Int32, until deadline: Int64) -> ([UInt8], Ending?) {
    var output: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { chunk.deallocate() }
    while true {
      let left = deadline - monotonic_nanoseconds()
      guard left > 0 else { return (output, .timedOut) }
      guard !isCancelled() else { return (output, .cancelled) }
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, Int32(min(50, left / 1_000_000 + 1)))
      if ready <= 0 { continue }
      let count = read(descriptor, chunk.baseAddress, chunk.count)
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      guard count > 0 else { return (output, nil) }
      guard output.count + count <= maximumBytes else { return (output, .tooMuchOutput) }
      output += chunk[..<count]
    }
  }

  private func finish(_ child: pid_t, early: Ending?, deadline: Int64) -> Ending {
    var status: Int32 = 0
    if early == nil {
      while monotonic_nanoseconds() < deadline, !isCancelled() {
        let result = waitpid(child, &status, WNOHANG)
        if result == child { return Self.ending(status) }
        if result < 0 && errno != EINTR { return .unknown }
        usleep(500)
      }
    }
    // The group too: the program may have started others.
    kill(-child, SIGKILL)
    kill(child, SIGKILL)
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return early ?? (isCancelled() ? .cancelled : .timedOut)
  }

  private static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}

/// Calls the body with a null-terminated array of C strings.
private func withCStrings<Result>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let pointers = strings.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers + [nil])
}
