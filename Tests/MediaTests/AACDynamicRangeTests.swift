// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Media

/// Tests dynamic range control in fill elements, which the tests insert into streams of FFmpeg's
/// AAC encoder.
@Suite struct AACDynamicRangeTests {
  /// Returns a fill element with a `dynamic_range_info`.
  private func element(
    reference: Int?, gains: [(isCut: Bool, value: Int)], excluded: Bool = false
  ) -> [UInt8] {
    var content = BitWriter()
    content.put(11, 4)
    content.put(0, 1)
    content.put(excluded ? 1 : 0, 1)
    if excluded { content.put(0x81 << 8 | 0x02, 16) }
    content.put(gains.count > 1 ? 1 : 0, 1)
    if gains.count > 1 {
      content.put(gains.count - 1, 4)
      content.put(0, 4)
      for band in gains.indices { content.put(16 * band, 8) }
    }
    content.put(reference == nil ? 0 : 1, 1)
    if let reference { content.put(reference << 1, 8) }
    for gain in gains {
      content.put(gain.isCut ? 1 : 0, 1)
      content.put(gain.value, 7)
    }
    var whole = BitWriter()
    whole.put(6, 3)
    whole.put(content.bits.count / 8, 4)
    return whole.bits + content.bits
  }

  /// Inserts an element before or after the channels of every ADTS frame.
  private func inserting(
    into stream: [UInt8], isLeading: Bool, _ element: (Int) -> [UInt8]?
  ) -> [UInt8] {
    var (result, at, index): ([UInt8], Int, Int) = ([], 0, 0)
    while at + 7 <= stream.count {
      let length =
        Int(stream[at + 3] & 3) << 11 | Int(stream[at + 4]) << 3 | Int(stream[at + 5] >> 5)
      var unit = bits(of: stream[(at + 7)..<(at + length)])
      while unit.last == 0 { unit.removeLast() }
      unit.removeLast(3)
      let added = element(index) ?? []
      let block = bytes(of: (isLeading ? added + unit : unit + added) + [1, 1, 1])
      var header = Array(stream[at..<(at + 7)])
      let size = block.count + 7
      header[3] = header[3] & 0xFC | UInt8(size >> 11)
      header[4] = UInt8(size >> 3 & 255)
      header[5] = UInt8(size & 7) << 5 | header[5] & 0x1F
      result += header + block
      at += length
      index += 1
    }
    return result
  }

  private func stream(_ scratch: Scratch) throws -> [UInt8] {
    let signal = noise(channels: 2, frames: 48_000, peak: 0.2)
    scratch.write(RawWAV(signal: signal, samples: .int24).bytes, to: "in.wav")
    try scratch.ffmpeg(["-i", "@in.wav", "-c:a", "aac", "-b:a", "128k", "-f", "adts", "@plain"])
    return scratch.bytes(of: "plain")
  }

  private func decode(
    _ bytes: [UInt8], _ scratch: Scratch, _ mode: DynamicRange
  ) throws -> AudioFileReader {
    try AudioFileReader(path: scratch.write(bytes, to: "a.aac"), dynamicRange: mode)
  }

  private func level(_ a: Planar, _ b: Planar, _ range: Range<Int>) -> Double {
    func energy(_ signal: Planar) -> Double {
      var sum = 0.0
      for channel in signal {
        for sample in channel[range] { sum += Double(sample * sample) }
      }
      return sum
    }
    return 10 * log10(energy(a) / energy(b))
  }

  /// libavcodec reads these levels without applying them; this module must apply them exactly once.
  @Test(arguments: [true, false]) func referenceAndGainAreAppliedOnce(isLeading: Bool) throws {
    let scratch = Scratch()
    let plain = try stream(scratch)
    let sound = try readAll(decode(plain, scratch, .line))
    let patched = inserting(into: plain, isLeading: isLeading) { _ in
      element(reference: 80, gains: [(true, 24)])
    }
    // The reference is -20 dB, and the gain is minus 24 steps of 1/24 of a factor of 2.
    let wanted: [DynamicRange: Double] = [.off: -11, .line: -17.02, .rf: -6.02]
    for mode in DynamicRange.allCases {
      let reader = try decode(patched, scratch, mode)
      let decoded = try readAll(reader)
      #expect(decoded[0].count == sound[0].count)
      let difference = level(decoded, sound, 4096..<45_000)
      #expect(abs(difference - (wanted[mode] ?? 0)) < 0.02, "\(mode): \(difference)")
      if isLeading {
        #expect(reader.statedLoudness?.origin == .programmeReference)
        #expect(reader.statedLoudness?.loudness == Double(mode.dialogueLevel))
      }
    }
  }

  @Test func gainsApplyToTheirOwnFrames() throws {
    let scratch = Scratch()
    let plain = try stream(scratch)
    let sound = try readAll(decode(plain, scratch, .line))
    let patched = inserting(into: plain, isLeading: true) { index in
      element(reference: nil, gains: [(index / 8 % 2 == 0, 24)])
    }
    let gained = try readAll(decode(patched, scratch, .line))
    for run in 0..<5 {
      let range = (run * 8 * 1024 + 2048)..<((run + 1) * 8 * 1024)
      let wanted = run % 2 == 0 ? -6.02 : 6.02
      #expect(abs(level(gained, sound, range) - wanted) < 0.02, "run \(run)")
    }
    // Neither mode `off` nor gains for separate bands change the sound.
    #expect(try readAll(decode(patched, scratch, .off)) == sound)
    let banded = inserting(into: plain, isLeading: true) { _ in
      element(reference: nil, gains: [(true, 24), (false, 3)])
    }
    #expect(try readAll(decode(banded, scratch, .line)) == sound)
  }

  @Test func streamsWithoutLevelsAreUnchanged() throws {
    let scratch = Scratch()
    let plain = try stream(scratch)
    var levels = AACLevels()
    var at = 0
    while at + 7 <= plain.count {
      let length = Int(plain[at + 3] & 3) << 11 | Int(plain[at + 4]) << 3 | Int(plain[at + 5] >> 5)
      levels.add(plain[at..<(at + length)])
      #expect(levels.newest == nil)
      at += length
    }
    #expect(try readAll(decode(plain, scratch, .line)) == readAll(decode(plain, scratch, .off)))
  }

  @Test func randomAndTruncatedDataGiveNoInvalidLevels() {
    var random = SeededGenerator.forTest()
    var levels = AACLevels()
    // The first byte begins a channel element, so only the end could be mistaken for levels.
    for _ in 0..<50_000 {
      let count = Int.random(in: 0...60, using: &random)
      levels.add([0x21] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    #expect(levels.newest == nil)
    let whole = bytes(of: element(reference: 80, gains: [(true, 24)], excluded: true) + [1, 1, 1])
    for count in 0..<whole.count - 1 {
      var cut = AACLevels()
      cut.add(whole.prefix(count))
      #expect(cut.newest == nil)
    }
    for _ in 0..<50_000 {
      var any = AACLevels()
      any.add(
        (0..<Int.random(in: 0...80, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        })
      #expect(any.newest.map { ($0.reference ?? 0) <= 0 } ?? true)
    }
    var found = AACLevels()
    found.add(whole)
    #expect(found.newest?.reference == -20)
    #expect(found.newest?.gain == nil)
  }
}
