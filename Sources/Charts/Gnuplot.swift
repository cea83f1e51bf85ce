// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

enum Gnuplot {
  /// Returns the picture that gnuplot draws. Throws an error if the temporary files cannot be
  /// written, or if gnuplot cannot be started, fails or takes longer than `seconds`.
  static func draw(_ script: String, seconds: Int = 20) throws(ChartError) -> UnnamedFile {
    guard let input = UnnamedFile(Array(script.utf8)), let picture = UnnamedFile(),
      let errors = UnnamedFile()
    else { throw .gnuplotFailed(String(cString: strerror(errno))) }
    let process = try start(input: input, output: picture, errors: errors)
    guard let ending = process.wait(seconds: Double(seconds), pauseMilliseconds: 5) else {
      process.destroy()
      throw .gnuplotTooSlow(seconds: seconds)
    }
    guard ending == .exited(0) else {
      throw .gnuplotFailed(lastLine(of: errors) ?? "\(ending)")
    }
    return picture
  }

  /// Whether gnuplot is in PATH.
  static var isInstalled: Bool {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/gnuplot", X_OK) == 0 }
  }

  private static func start(
    input: UnnamedFile, output: UnnamedFile, errors: UnnamedFile
  ) throws(ChartError) -> ChildProcess {
    var launch = ProgramLaunch(["gnuplot", "--default-settings"])
    launch.input = .descriptor(input.descriptor)
    launch.output = .descriptor(output.descriptor)
    launch.errors = .descriptor(errors.descriptor)
    do throws(SystemError) { return try launch.start() } catch {
      throw error.number == ENOENT ? .gnuplotMissing : .gnuplotFailed(error.description)
    }
  }

  private static func lastLine(of file: UnnamedFile) -> String? {
    String(decoding: file.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .last { $0.contains { !$0.isWhitespace } }.map(String.init)
  }
}
