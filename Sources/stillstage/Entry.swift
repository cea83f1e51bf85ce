// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc

/// Answers requests for help, the version, the manual page, and completion scripts and values. For
/// a command, replaces this process with the executable that implements it. Help appears quickly,
/// because this executable does not load FFmpeg.
func run() -> Never {
  if CommandLine.arguments.dropFirst().first == MachineValues.command { answerCompletion() }
  do throws(UsageError) {
    switch try CommandParser.parse(Array(CommandLine.arguments.dropFirst())) {
    case .help(let topic): answer(HelpText.about(topic))
    case .version: answer("\(Program.name) \(Program.version)\n")
    case .manualPage: answer(ManualPage.text)
    case .completion(let shell): answer(shell.completion)
    case .run(let command): become(command.name.executable)
    }
  } catch {
    // The error line follows the list of commands, so that it is the last line on the terminal.
    if error == .missingCommand { _ = write(HelpText.brief, to: STDOUT_FILENO) }
    fail(error.description, exitCode: 2)
  }
}

/// Prints the values that a completion script asks for.
private func answerCompletion() -> Never {
  guard let kind = CommandLine.arguments.dropFirst(2).first.flatMap(MachineValues.init) else {
    let kinds = MachineValues.allCases.map(\.rawValue).joined(separator: ", ")
    fail("'\(MachineValues.command)' needs one of \(kinds)", exitCode: 2)
  }
  if let names = CompletionValues.names(kind) { answer(names.map { $0 + "\n" }.joined()) }
  guard let path = ProgramFiles.ofThisProcess?.executable(MachineValues.executable) else { exit(1) }
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(kind.rawValue), nil]
  execv(path, &arguments)
  exit(1)
}

private func become(_ name: String) -> Never {
  guard let path = ProgramFiles.ofThisProcess?.executable(name) else {
    fail(
      """
      \(name) is neither beside this executable nor in ../libexec/stillstage; run \
      'make build' or 'make install' again
      """, exitCode: 1)
  }
  execv(path, CommandLine.unsafeArgv)
  fail(
    "cannot start \(path): \(String(cString: strerror(errno))); "
      + "run 'make build' or 'make install' again", exitCode: 1)
}

private func answer(_ text: String) -> Never {
  guard write(text, to: STDOUT_FILENO) else {
    fail(
      "cannot write to standard output: \(String(cString: strerror(errno))); "
        + "redirect it to a writable file", exitCode: 1)
  }
  exit(0)
}

private func fail(_ message: String, exitCode: Int32) -> Never {
  _ = write("\(Program.name): \(message)\n", to: STDERR_FILENO)
  exit(exitCode)
}

/// Writes the entire text; returns false if writing fails.
private func write(_ text: String, to descriptor: Int32) -> Bool {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return false }
    rest.removeFirst(count)
  }
  return true
}
