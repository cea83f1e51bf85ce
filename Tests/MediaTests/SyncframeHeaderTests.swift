// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Media

/// Level metadata that the tests write into a header.
struct WrittenHeader {
  var mode = 7
  var lowFrequency = true
  /// `dialnorm` and `compr` of one or two programmes.
  var programmes: [(dialogue: Int, heavy: Int?)] = [(27, nil)]
  /// `dynrng` of the first block, for each programme.
  var line: [Int?] = [nil]
  var languages = false
  var timeCodes = false
  var additional: Int?

  /// An AC-3 header: A/52, 5.3.2 and the start of 5.3.3.
  var basic: [UInt8] {
    var writer = BitWriter()
    writer.put(0x0B77, 16)
    writer.put(0, 16)
    writer.put(0, 2)
    writer.put(28, 6)  // 384 kbit/s
    writer.put(8, 5)
    writer.put(0, 3)
    writer.put(mode, 3)
    if mode & 1 != 0, mode != 1 { writer.put(1, 2) }
    if mode & 4 != 0 { writer.put(1, 2) }
    if mode == 2 { writer.put(0, 2) }
    writer.put(lowFrequency ? 1 : 0, 1)
    for programme in programmes {
      writer.put(programme.dialogue, 5)
      writer.put(optional: programme.heavy, 8)
      writer.put(optional: languages ? 0x5A : nil, 8)
      writer.put(optional: languages ? 0x55 : nil, 7)
    }
    writer.put(3, 2)
    writer.put(optional: timeCodes ? 0x1555 : nil, 14)
    writer.put(optional: timeCodes ? 0x2AAA : nil, 14)
    writer.put(optional: additional.map { $0 - 1 }, 6)
    for _ in 0..<(additional ?? 0) { writer.put(0xFF, 8) }
    let full = [2, 1, 2, 3, 3, 4, 4, 5][mode]
    writer.put(0, full)
    writer.put((1 << full) - 1, full)
    for word in line { writer.put(optional: word, 8) }
    writer.put(0, 16)
    return writer.bytes
  }

  /// Returns an E-AC-3 header: A/52, annex E, 2.2.2.
  func enhanced(type: Int = 0, words: Int = 384) -> [UInt8] {
    var writer = BitWriter()
    writer.put(0x0B77, 16)
    writer.put(type, 2)
    writer.put(0, 3)
    writer.put(words - 1, 11)
    writer.put(0, 2)
    writer.put(3, 2)
    writer.put(mode, 3)
    writer.put(lowFrequency ? 1 : 0, 1)
    writer.put(16, 5)
    for programme in programmes {
      writer.put(programme.dialogue, 5)
      writer.put(optional: programme.heavy, 8)
    }
    writer.put(0, 32)
    return writer.bytes
  }
}

@Suite struct SyncframeHeaderTests {
  @Test func gainWordsConvertToDecibels() {
    // A/52, 7.7.1.2 and 7.7.2.2: the largest gain, the smallest and unity.
    #expect(abs(SyncframeHeader.lineGain(0x7F) - 23.95) < 0.01)
    #expect(abs(SyncframeHeader.lineGain(0x80) + 24.08) < 0.01)
    #expect(abs(SyncframeHeader.lineGain(0)) < 1e-9)
    #expect(abs(SyncframeHeader.heavyGain(0x7F) - 47.89) < 0.01)
    #expect(abs(SyncframeHeader.heavyGain(0x80) + 48.16) < 0.01)
    #expect(abs(SyncframeHeader.heavyGain(0)) < 1e-9)
    for word in 0..<128 where word % 32 != 31 {
      #expect(SyncframeHeader.lineGain(word) < SyncframeHeader.lineGain(word + 1))
    }
  }

  @Test func headersOfEveryChannelModeAreRead() {
    for mode in 0..<8 {
      for dialogue in 0..<32 {
        for isLong in [false, true] {
          var written = WrittenHeader(mode: mode, lowFrequency: dialogue % 2 == 0)
          let heavy = dialogue % 3 == 0 ? dialogue * 8 : nil
          written.programmes = [(dialogue, heavy)]
          written.line = [dialogue % 5 == 0 ? 255 - dialogue : nil]
          if mode == 0 {
            written.programmes.append((31 - dialogue, 128))
            written.line.append(64)
          }
          written.languages = isLong
          written.timeCodes = isLong
          written.additional = isLong ? 64 : nil
          check(SyncframeHeader(written.basic), written, isEnhanced: false)
          check(SyncframeHeader(written.enhanced()), written, isEnhanced: true)
        }
      }
    }
  }

  private func check(
    _ header: SyncframeHeader?, _ written: WrittenHeader, isEnhanced: Bool
  ) {
    guard let header else {
      Issue.record("\(written) is not read")
      return
    }
    #expect(header.isEnhanced == isEnhanced)
    #expect(header.channelMode == written.mode)
    #expect(header.hasLowFrequency == written.lowFrequency)
    #expect(header.byteCount == (isEnhanced ? 768 : 1536))
    #expect(header.levels.count == written.programmes.count)
    for (index, level) in header.levels.enumerated() {
      let (dialogue, heavy) = written.programmes[index]
      #expect(level.dialogue == (dialogue == 0 ? -31 : -dialogue))
      #expect(level.heavyCompression == heavy.map(SyncframeHeader.heavyGain))
      let line = isEnhanced ? nil : written.line[index]
      #expect(level.firstBlockGain == line.map(SyncframeHeader.lineGain))
    }
  }

  @Test func dependentFramesAreRecognised() {
    #expect(SyncframeHeader(WrittenHeader().enhanced(type: 1))?.isDependent == true)
    #expect(SyncframeHeader(WrittenHeader().enhanced(type: 3)) == nil)
  }

  @Test func truncatedHeadersAreNotReadBeyondTheirEnd() {
    var random = SeededGenerator.forTest()
    let whole = WrittenHeader(timeCodes: true, additional: 64).basic
    let read = SyncframeHeader(whole)
    #expect(read != nil)
    for count in 0..<whole.count {
      let cut = SyncframeHeader(whole.prefix(count))
      #expect(cut == nil || cut == read)
    }
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...160, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if bytes.count > 1, Bool.random(using: &random) {
        bytes.replaceSubrange(0..<2, with: [0x0B, 0x77])
      }
      guard let header = SyncframeHeader(bytes) else { continue }
      #expect((1...4096).contains(header.byteCount))
      #expect(header.levels.allSatisfy { (-31 ... -1).contains($0.dialogue) })
      // The indices of a slice do not start at 0.
      #expect(SyncframeHeader(([0] + bytes).dropFirst()) == header)
    }
  }

  @Test func frameLengthsMatchTheStandard() {
    // A/52, table 5.18: 44.1 kHz alternates between two lengths.
    func length(_ rate: Int, _ size: Int) -> Int? {
      var bytes = WrittenHeader().basic
      bytes[4] = UInt8(rate << 6 | size)
      return SyncframeHeader(bytes)?.byteCount
    }
    #expect(length(0, 0) == 128)
    #expect(length(0, 37) == 2560)
    #expect(length(1, 0) == 138)
    #expect(length(1, 1) == 140)
    #expect(length(1, 36) == 2786)
    #expect(length(2, 36) == 3840)
    #expect(length(3, 0) == nil)
    #expect(length(0, 38) == nil)
  }
}
