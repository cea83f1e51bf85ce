// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import TestSupport
import Testing

/// Runs the corpus of `make fuzz`, and five seconds of seeded mutations of it, or
/// `STILLSTAGE_FUZZ_INPUTS` if that takes longer. An error stops the process, and the seed
/// identifies the input.
extension VirtualDevices {
  @Suite struct ReportFuzzTests {
    private static func corpus() throws -> [[UInt8]] {
      let folder = VirtualSensor.root + "/Tests/Fuzz/trackers"
      guard let names = SystemFile.names(in: folder) else {
        throw HelperFailure(description: "no corpus")
      }
      let found = try names.filter { !$0.hasPrefix(".") }.map {
        try SystemFile.contents(folder + "/" + $0, limit: 1 << 14)
      }
      return found
    }

    @Test func mutatedReportsNeverCrashTheDrivers() throws {
      let corpus = try Self.corpus()
      #expect(corpus.count >= ReportFuzz.targets)
      #expect(
        Set(corpus.compactMap { $0.first.map { Int($0) % ReportFuzz.targets } }).count
          == ReportFuzz.targets)
      for input in corpus { ReportFuzz.run(input) }
      let end = monotonic_nanoseconds() + 5_000_000_000
      let least = getenv("STILLSTAGE_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 0
      var runs = 0
      while monotonic_nanoseconds() < end || runs < least {
        var generator = SeededGenerator(UInt64(runs))
        ReportFuzz.run(Self.mutated(corpus.randomElement(using: &generator) ?? [], &generator))
        runs += 1
      }
      print("\(runs) mutations of \(corpus.count) inputs")
      #expect(runs > 100)
    }

    private static func mutated(_ input: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
      var bytes = input
      for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
        let at = Int.random(in: 0..<bytes.count, using: &generator)
        switch UInt8.random(in: 0...4, using: &generator) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 1: bytes[at] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
        case 2: bytes.remove(at: at)
        case 3: bytes.insert(.random(in: 0...255, using: &generator), at: at)
        default: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &generator)))
        }
      }
      return bytes
    }
  }
}
