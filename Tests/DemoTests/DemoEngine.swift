// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// Finds the engine for the tests: the release build if it is up to date, because a debug build
/// takes longer than the scene lasts.
enum DemoEngine {
  static let path: String = {
    let debug = ProgramRun.builtProducts + "/stillstage-engine"
    let release = ProgramRun.builtProducts + "/../release/stillstage-engine"
    let exists = access(release, X_OK) == 0
    guard exists else { return debug }
    let newer = try? ProgramRun.of(
      "find", ["\(root)/Sources", "\(root)/Package.swift", "-type", "f", "-newer", release])
    return newer?.exitCode == 0 && newer?.output.isEmpty == true ? release : debug
  }()

  /// The folder of the package.
  private static let root =
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
}
