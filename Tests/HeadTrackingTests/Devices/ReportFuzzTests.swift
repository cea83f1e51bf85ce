// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Runs the corpus of `make fuzz` for HID devices, and mutations of it: 5,000 for each target, or
/// `STILLSTAGE_FUZZ_INPUTS`. An error stops the process.
extension VirtualDevices {
  @Suite struct ReportFuzzTests {
    @Test("Mutated reports never crash the drivers", arguments: 0..<ReportFuzz.targets)
    func mutations(target: Int) throws {
      let corpus = try FuzzCorpus("trackers", target: UInt8(target), marks: [])
      #expect(!corpus.inputs.isEmpty)
      for input in corpus.inputs { ReportFuzz.run(input) }
      var generator = SeededGenerator(UInt64(target))
      for _ in 0..<(FuzzCorpus.requestedCount ?? 5000) {
        ReportFuzz.run(corpus.mutated(&generator))
      }
    }
  }
}
