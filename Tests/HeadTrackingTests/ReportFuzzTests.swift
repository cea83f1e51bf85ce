// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Testing

/// The corpus of `make fuzz`, and five seconds of seeded mutations of it. What goes wrong ends the
/// process, and the seed tells which input it was.
extension VirtualDevices {
  @Suite struct ReportFuzzTests {
    private struct Generator: RandomNumberGenerator {
      var state: UInt64
      mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
      }
    }

    private static func corpus() throws -> [[UInt8]] {
      let folder = VirtualSensor.root + "/Tests/Fuzz/trackers"
      guard let directory = opendir(folder) else { throw HelperFailure(description: "no corpus") }
      defer { closedir(directory) }
      var found: [[UInt8]] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard !name.hasPrefix("."), let file = fopen(folder + "/" + name, "rb") else { continue }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        let count = fread(&bytes, 1, bytes.count, file)
        found.append(Array(bytes.prefix(count)))
      }
      return found
    }

    @Test func everythingIsSurvived() throws {
      let corpus = try Self.corpus()
      #expect(corpus.count >= ReportFuzz.targets)
      #expect(
        Set(corpus.compactMap { $0.first.map { Int($0) % ReportFuzz.targets } }).count
          == ReportFuzz.targets)
      for input in corpus { ReportFuzz.run(input) }
      let end = monotonic_nanoseconds() + 5_000_000_000
      var runs = 0
      while monotonic_nanoseconds() < end {
        var generator = Generator(state: UInt64(runs) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        ReportFuzz.run(Self.mutated(corpus.randomElement(using: &generator) ?? [], &generator))
        runs += 1
      }
      print("\(runs) mutations of \(corpus.count) inputs")
      #expect(runs > 100)
    }

    private static func mutated(_ input: [UInt8], _ generator: inout Generator) -> [UInt8] {
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
