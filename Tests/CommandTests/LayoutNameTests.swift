// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Media
import TestSupport
import Testing

@Suite struct LayoutNameTests {
  @Test func helpListsTheLayoutNamesOfTheEngine() throws {
    #expect(Options.layoutNames == LayoutOption.names)
    for name in Options.layoutNames { _ = try LayoutOption(name) }
  }

  @Test func unlistedLayoutNamesAreAccepted() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    let silence = [Float](repeating: 0, count: 480)
    let input = folder.file("four.wav")
    try folder.write(
      FloatWAV(channels: [[Float]](repeating: silence, count: 4)).bytes(), to: "four.wav")
    for name in ["FL+FR+LFE+BC", "QUAD", "3.1", "7.1(wide)"] { _ = try LayoutOption(name) }
    _ = try Stillstage.succeed([
      "render", input, "-o", folder.file("out.wav"), "--layout", "FL+FR+LFE+BC", "--hrtf", sofa,
      "--order", "1",
    ])
    #expect(folder.names.contains("out.wav"))
  }
}
