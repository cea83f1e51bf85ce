// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs gnuplot as a program of its own.
enum Gnuplot {
  /// What gnuplot draws for a script, as the bytes of the picture.
  static func draw(_ script: String, seconds: Int = 20) throws(ChartError) -> UnnamedFile {
    guard let input = UnnamedFile(Array(script.utf8)), let picture = UnnamedFile(),
      let errors = UnnamedFile()
    else { throw .gnuplotFailed(String(cString: strerror(errno))) }
    let process = try start(input: input, output: picture, errors: errors)
    guard let status = wait(for: process, seconds: seconds) else {
      throw .gnuplotTooSlow(seconds: seconds)
    }
    guard status == 0 else { throw .gnuplotFailed(lastLine(of: errors) ?? "status \(status)") }
    return picture
  }

  /// Whether there is such a program in PATH.
  static var isInstalled: Bool {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/gnuplot", X_OK) == 0 }
  }

  private static func start(
    input: UnnamedFile, output: UnnamedFile, errors: UnnamedFile
  ) throws(ChartError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input.descriptor, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output.descriptor, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors.descriptor, STDERR_FILENO)
    // A player that blocks signals in its threads must not hand that down.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = [strdup("gnuplot"), strdup("--default-settings"), nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    switch posix_spawnp(&process, "gnuplot", &actions, &attributes, &arguments, environ) {
    case 0: return process
    case ENOENT: throw .gnuplotMissing
    case let code: throw .gnuplotFailed(String(cString: strerror(code)))
    }
  }

  /// The wait status, or `nil` when the program took too long and was ended.
  private static func wait(for process: pid_t, seconds: Int) -> Int32? {
    let pauseMilliseconds = 5
    var status: Int32 = 0
    for _ in 0..<seconds * 1000 / pauseMilliseconds {
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process { return status }
      if ended < 0, errno != EINTR { return nil }
      usleep(useconds_t(pauseMilliseconds * 1000))
    }
    kill(process, SIGKILL)
    waitpid(process, &status, 0)
    return nil
  }

  private static func lastLine(of file: UnnamedFile) -> String? {
    String(decoding: file.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .last { $0.contains { !$0.isWhitespace } }.map(String.init)
  }
}
