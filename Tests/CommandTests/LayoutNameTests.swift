// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Media
import TestSupport
import Testing

@Suite struct LayoutNameTests {
  @Test func helpOffersTheNamesThatTheEngineTakes() throws {
    #expect(Options.layoutNames == LayoutOption.names)
    for name in Options.layoutNames { _ = try LayoutOption(name) }
  }

  @Test(arguments: ["quad", "4.0", "3.1", "FL+FR+LFE+BC", "QUAD"])
  func otherNamesAreTakenToo(name: String) throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    let silence = [Float](repeating: 0, count: 480)
    let input = folder.file("four.wav")
    try folder.write(
      FloatWAV(channels: [[Float]](repeating: silence, count: 4)).bytes(), to: "four.wav")
    _ = try Stillstage.succeed([
      "render", input, "-o", folder.file("out.wav"), "--layout", name, "--hrtf", sofa,
      "--order", "1",
    ])
    #expect(folder.names.contains("out.wav"))
  }
}
