// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

/// Runs the corpus of `make fuzz` for MIDI trackers, and 20,000 mutations of it, or
/// `STILLSTAGE_FUZZ_INPUTS`. An error stops the process.
@Suite struct MIDIFuzzTests {
  private static let folder =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Tests/Fuzz/midi"

  @Test func mutatedPacketsNeverCrashTheDecoders() throws {
    let names = try #require(SystemFile.names(in: Self.folder)).filter { !$0.hasPrefix(".") }
    let corpus = try names.sorted().map { try SystemFile.contents("\(Self.folder)/\($0)") }
    #expect(Set(corpus.compactMap(\.first)).count == MIDIFuzz.targets)
    for input in corpus { MIDIFuzz.run(input) }
    var generator = SeededGenerator(34)
    let count = getenv("STILLSTAGE_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 20_000
    for _ in 0..<count {
      MIDIFuzz.run(Self.mutated(corpus.randomElement(using: &generator) ?? [], &generator))
    }
  }

  private static func mutated(_ input: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &generator)
      switch UInt8.random(in: 0...4, using: &generator) {
      case 0: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 1: bytes[at] = [0, 0x7F, 0xB0, 0xF0, 0xF7, 0xF8].randomElement(using: &generator) ?? 0
      case 2: bytes.remove(at: at)
      case 3: bytes.insert(.random(in: 0...255, using: &generator), at: at)
      default: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &generator)))
      }
    }
    return bytes
  }
}
