// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Runs the corpus of `make fuzz` for trackers on other links than HID, and mutations of it: 5,000
/// for each target, or `STILLSTAGE_FUZZ_INPUTS`. An error stops the process.
@Suite struct LinkFuzzTests {
  @Test(
    "Mutated packets, profiles and lists never crash the decoders",
    arguments: 0..<LinkFuzz.targets)
  func mutations(target: Int) throws {
    let corpus = try FuzzCorpus(
      "links", target: UInt8(target), marks: [0x55, 0xB0, 0xF0, 0xF7, 0xF8])
    #expect(!corpus.inputs.isEmpty)
    for input in corpus.inputs { LinkFuzz.run(input) }
    var generator = SeededGenerator(34 + UInt64(target))
    for _ in 0..<(FuzzCorpus.requestedCount ?? 5000) { LinkFuzz.run(corpus.mutated(&generator)) }
  }
}
