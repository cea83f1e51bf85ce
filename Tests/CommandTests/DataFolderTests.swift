// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `--data` is the folder in which `--hrtf` searches for a bare file name.
@Suite struct DataFolderTests {
  @Test func aBareNameIsFoundInTheDataFolder() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    #expect(mkdir(folder.file("HRTF"), 0o755) == 0)
    #expect(rename(sofa, folder.file("HRTF/mine.sofa")) == 0)
    try folder.write(FloatWAV(channels: [[0, 1, 0, 0]]).bytes(), to: "in.wav")
    let arguments = [
      "render", folder.file("in.wav"), "-o", folder.file("out.wav"), "--hrtf", "mine.sofa",
      "--order", "1", "--data",
    ]
    _ = try Stillstage.succeed(arguments + [folder.file("")])
    #expect(try FloatWAV(reading: folder.file("out.wav")).channels.count == 2)
    let wrong = try Stillstage.run(arguments + ["/nonexistent"])
    #expect(wrong.errors.contains("mine.sofa"))
  }
}
