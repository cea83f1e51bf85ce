// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The engine that the tests run: the release build where it is of the sources as they are, because
/// a debug build takes longer than the scene lasts.
enum DemoEngine {
  static let path: String = {
    let debug = ProgramRun.builtProducts + "/stillstage-engine"
    let release = ProgramRun.builtProducts + "/../release/stillstage-engine"
    let isThere = access(release, X_OK) == 0
    guard isThere else { return debug }
    let newer = try? ProgramRun.of(
      "find", ["\(root)/Sources", "\(root)/Package.swift", "-type", "f", "-newer", release])
    return newer?.exitCode == 0 && newer?.output.isEmpty == true ? release : debug
  }()

  /// The package's folder.
  private static let root =
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
}
