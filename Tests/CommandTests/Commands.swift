// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The built program.
enum Stillstage {
  static let path = "\(ProgramRun.builtProducts)/stillstage"

  static func run(_ arguments: [String]) throws -> ProgramRun {
    try ProgramRun.of(path, arguments, timeoutSeconds: 60)
  }

  /// Runs the program and requires exit code 0.
  static func succeed(_ arguments: [String]) throws -> ProgramRun {
    let run = try run(arguments)
    try #require(run.exitCode == 0, "\(arguments): \(run.errors)")
    return run
  }
}

/// The scripts in Tests/Fixtures and the virtual tracker.
enum Fixtures {
  private static let root =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  private static let folder = "\(root)/Tests/Fixtures"

  static let virtualTracker = "\(root)/Calibration/virtual-tracker/virtual_tracker.py"
  static let httpServer = "\(folder)/http_server.py"
  static let virtualSensor = "\(folder)/virtual_sensor.py"

  /// Writes one of the small SOFA files of `make_sofa.py`; needs Debian's python3-h5py.
  static func sofa(_ name: String, in temporary: TemporaryFolder) throws -> String {
    let run = try ProgramRun.of(
      "/usr/bin/python3", ["\(folder)/make_sofa.py", temporary.path, name])
    try #require(run.exitCode == 0, "apt install python3-h5py: \(run.errors)")
    return temporary.file("\(name).sofa")
  }
}
