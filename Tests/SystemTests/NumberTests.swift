// SPDX-License-Identifier: Apache-2.0

import System
import Testing

@Suite struct NumberTests {
  /// Compares with the check value of the CRC catalogue and with the values of `gzip`.
  @Test func crc32MatchesStandardCheckValues() {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(CRC32.of([]) == 0)
    #expect(CRC32.of([0]) == 0xD202_EF8D)
    #expect(CRC32.of([UInt8](repeating: 0xFF, count: 4)) == 0xFFFF_FFFF)
    #expect(CRC32.of("The quick brown fox jumps over the lazy dog".utf8) == 0x414F_A339)
  }

  /// Compares with Vigna's reference implementation for seed 1234567.
  @Test func generatorMatchesSplitMix64() {
    var random = SeededGenerator(1_234_567)
    #expect(
      (0..<5).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
    var sequence = SeededGenerator(0)
    for position in 1...100 {
      #expect(SeededGenerator.value(at: UInt64(position)) == sequence.next())
    }
  }

  @Test func distributionsHaveTheExpectedMoments() {
    var random = SeededGenerator(1)
    let count = 200_000
    let uniform = (0..<count).map { _ in random.uniform() }
    #expect(uniform.allSatisfy { (0..<1).contains($0) })
    #expect(abs(uniform.reduce(0, +) / Double(count) - 0.5) < 0.005)
    let normal = (0..<count).map { _ in random.gaussian() }
    #expect(normal.allSatisfy { $0.isFinite })
    #expect(abs(normal.reduce(0, +) / Double(count)) < 0.01)
    #expect(abs(normal.reduce(0) { $0 + $1 * $1 } / Double(count) - 1) < 0.02)
  }
}
