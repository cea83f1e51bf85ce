// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Media

/// The level metadata of AC-3 and E-AC-3 must be applied exactly once, according to the mode.
@Suite struct DynamicRangeTests {
  private static let kinds = ["ac3", "eac3"]

  /// Returns 5.1 noise as FFmpeg's encoder writes it, with no level metadata except dialnorm -31.
  private func stream(_ kind: String, _ scratch: Scratch, seconds: Double = 1) throws -> [UInt8] {
    let signal = noise(channels: 6, frames: Int(48000 * seconds), peak: 0.2)
    scratch.write(RawWAV(signal: signal, samples: .int24).bytes, to: "in.wav")
    let rate = kind == "ac3" ? "384k" : "448k"
    try scratch.ffmpeg([
      "-channel_layout", "5.1(side)", "-i", "@in.wav", "-c:a", kind, "-b:a", rate, "-f", kind,
      "@plain",
    ])
    return scratch.bytes(of: "plain")
  }

  private func patched(
    _ kind: String, _ stream: [UInt8], _ words: BroadcastFrames
  ) throws -> [UInt8] {
    try kind == "ac3" ? words.basic(stream) : words.enhanced(stream)
  }

  private func decode(
    _ bytes: [UInt8], _ scratch: Scratch, _ mode: DynamicRange
  ) throws -> Planar {
    let reader = try AudioFileReader(path: scratch.write(bytes, to: "a"), dynamicRange: mode)
    let signal = try readAll(reader)
    #expect(reader.warnings.isEmpty, "\(reader.warnings)")
    return signal
  }

  /// Returns the level of a part of one signal relative to the same part of another, in dB.
  private func ratio(_ a: Planar, _ b: Planar, _ range: Range<Int>) -> Double {
    func energy(_ signal: Planar) -> Double {
      var sum = 0.0
      for channel in signal {
        for sample in channel[range] { sum += Double(sample * sample) }
      }
      return sum
    }
    return 10 * log10(energy(a) / energy(b))
  }

  @Test(arguments: kinds) func dialnormBringsDialogueToOneLevel(kind: String) throws {
    let scratch = Scratch()
    let stream = try stream(kind, scratch)
    func decoded(_ dialogue: Int, _ mode: DynamicRange) throws -> Planar {
      try decode(patched(kind, stream, BroadcastFrames(dialogue: dialogue)), scratch, mode)
    }
    let plain = try decoded(31, .line)
    for mode in DynamicRange.allCases {
      for dialogue in [31, 27, 20, 12, 1] {
        let level = try ratio(decoded(dialogue, mode), plain, 0..<48000)
        let wanted = Double(dialogue - 31 + (mode == .rf ? 11 : 0))
        #expect(abs(level - wanted) < 0.15, "\(kind) \(dialogue) \(mode): \(level)")
      }
    }
  }

  @Test(arguments: kinds) func eachModeAppliesItsOwnGainWords(kind: String) throws {
    let scratch = Scratch()
    let stream = try stream(kind, scratch)
    let plain = try decode(
      patched(kind, stream, BroadcastFrames(dialogue: 27)), scratch, .off)
    for (heavy, line) in [(0xD5, 0xE8), (0x20, 0x30), (nil, 0xC3), (0xC7, nil)] as [(Int?, Int?)] {
      let words = BroadcastFrames(dialogue: 27, heavy: [heavy], line: [line])
      let bytes = try patched(kind, stream, words)
      let lineGain = line.map(SyncframeHeader.lineGain) ?? 0
      let heavyGain = heavy.map(SyncframeHeader.heavyGain) ?? lineGain
      let wanted: [DynamicRange: Double] = [.off: 0, .line: lineGain, .rf: 11 + heavyGain]
      for mode in DynamicRange.allCases {
        let level = try ratio(decode(bytes, scratch, mode), plain, 0..<48000)
        #expect(abs(level - (wanted[mode] ?? 0)) < 0.1, "\(kind) \(mode): \(level)")
      }
    }
  }

  /// Gains that change with every frame must apply to their own frames.
  @Test(arguments: kinds) func gainsApplyToTheirOwnFrames(kind: String) throws {
    let scratch = Scratch()
    let stream = try stream(kind, scratch)
    let words = [0xE0, 0x20, 0xC0, 0x00]
    let changing = BroadcastFrames(dialogue: 31, line: words)
    let plain = try decode(
      patched(kind, stream, BroadcastFrames(dialogue: 31)), scratch, .line)
    let gained = try decode(patched(kind, stream, changing), scratch, .line)
    for frame in 0..<30 {
      // The window of the first block fades from the previous frame.
      let range = (frame * 1536 + 512)..<(frame * 1536 + 1536)
      let level = ratio(gained, plain, range)
      let wanted = SyncframeHeader.lineGain(words[frame % 4])
      #expect(abs(level - wanted) < 0.1, "\(kind), frame \(frame): \(level), not \(wanted)")
    }
  }

  @Test(arguments: kinds) func levelsAreReadAndLoudnessIsReported(kind: String) throws {
    let scratch = Scratch()
    let words = BroadcastFrames(dialogue: 24, heavy: [0xD5], line: [0xE8])
    let bytes = try patched(kind, stream(kind, scratch, seconds: 0.2), words)
    let header = SyncframeHeader(bytes)
    #expect(header?.levels.first?.dialogue == -24)
    #expect(header?.levels.first?.heavyCompression == SyncframeHeader.heavyGain(0xD5))
    #expect(header?.isEnhanced == (kind == "eac3"))
    let path = scratch.write(bytes, to: "a")
    for mode in DynamicRange.allCases {
      let reader = try AudioFileReader(path: path, dynamicRange: mode)
      let level = mode == .rf ? -20.0 : -31
      #expect(reader.statedLoudness == StatedLoudness(origin: .dialnorm, loudness: level))
    }
  }

  /// The same metadata must apply before and after a seek.
  @Test(arguments: kinds) func seekKeepsTheDynamicRangeMode(kind: String) throws {
    let scratch = Scratch()
    let words = BroadcastFrames(dialogue: 20, heavy: [0xD5])
    let bytes = try patched(kind, stream(kind, scratch), words)
    let reader = try AudioFileReader(path: scratch.write(bytes, to: "a"), dynamicRange: .rf)
    let whole = try readAll(reader)
    try reader.seek(toFrame: 20_000)
    let rest = try readAll(reader)
    let shifted = whole.map { Array($0[20_000...]) }
    #expect(abs(ratio(rest, shifted, 2000..<20_000)) < 0.01)
  }
}
