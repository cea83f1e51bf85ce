// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc
import TestSupport
import Testing

@Suite struct ProgramFilesTests {
  @Test func dataFolderPrecedenceIsOptionEnvironmentInstalledSource() {
    let folder = TemporaryFolder()
    for name in [
      "HRTF", "Calibration", ".build", ".build/debug", "libexec", "libexec/stillstage", "bin",
    ] {
      mkdir(folder.file(name), 0o755)
    }
    let built = ProgramFiles(folder: folder.file(".build/debug"))
    #expect(built.dataFolder(option: "a", environment: "b") == "a")
    #expect(built.dataFolder(option: nil, environment: "b") == "b")
    #expect(built.dataFolder(option: nil, environment: "") == folder.path)
    #expect(built.dataFolder(option: nil, environment: nil) == folder.path)
    for name in [
      "share", "share/stillstage", "share/stillstage/HRTF", "share/stillstage/Calibration",
    ] {
      mkdir(folder.file(name), 0o755)
    }
    let engine = ProgramFiles(folder: folder.file("libexec/stillstage"))
    let installed = folder.file("libexec/stillstage/../../share/stillstage")
    #expect(engine.dataFolder(option: nil, environment: nil) == installed)
    let entry = ProgramFiles(folder: folder.file("bin"))
    let beside = folder.file("bin/../share/stillstage")
    #expect(entry.dataFolder(option: nil, environment: nil) == beside)
  }

  @Test func dataFolderIsNilWithoutData() {
    let folder = TemporaryFolder()
    #expect(ProgramFiles(folder: folder.path).dataFolder(option: nil, environment: nil) == nil)
  }
}
