// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Media

@Suite struct StatedLoudnessTests {
  private func tagged(_ tags: [String: String]) -> StatedLoudness? {
    StatedLoudness.tagged { tags[$0] }
  }

  @Test func replayGainAndR128TagsGiveTheLoudness() {
    #expect(tagged([:]) == nil)
    #expect(
      tagged(["REPLAYGAIN_TRACK_GAIN": "-6.52 dB"])
        == StatedLoudness(origin: .replayGain, loudness: -18 + 6.52))
    #expect(
      tagged(["REPLAYGAIN_TRACK_GAIN": " +4.0dB", "REPLAYGAIN_TRACK_PEAK": "1.0"])
        == StatedLoudness(origin: .replayGain, loudness: -22, peak: 0))
    #expect(tagged(["R128_TRACK_GAIN": "-1280"]) == StatedLoudness(origin: .r128, loudness: -18))
    #expect(
      tagged(["R128_TRACK_GAIN": "256", "REPLAYGAIN_TRACK_GAIN": "-9 dB"])?.origin == .r128)
  }

  @Test(arguments: [
    "", "dB", "nan", "inf", "-300 dB", "1e9", "- 3", "99999999999999999999", "--3", "\u{0}",
  ])
  func invalidTagsAreIgnored(text: String) {
    #expect(tagged(["REPLAYGAIN_TRACK_GAIN": text]) == nil)
    #expect(tagged(["R128_TRACK_GAIN": text]) == nil)
  }

  @Test func tagsAreReadFromFiles() throws {
    let scratch = Scratch()
    scratch.write(
      RawWAV(signal: noise(channels: 2, frames: 24_000), samples: .int16).bytes, to: "in.wav")
    let tags = ["-metadata", "REPLAYGAIN_TRACK_GAIN=-3.25 dB"]
    try scratch.ffmpeg(
      ["-i", "@in.wav"] + tags + ["@a.flac"] + tags + ["@a.mp3"] + tags + ["@a.mka"] + [
        "-c:a", "libopus", "-metadata", "R128_TRACK_GAIN=-512", "@a.opus",
      ] + tags + ["-movflags", "use_metadata_tags", "@a.m4a"])
    for name in ["a.flac", "a.mp3", "a.mka", "a.m4a"] {
      let stated = try AudioFileReader(path: scratch / name).statedLoudness
      #expect(stated == StatedLoudness(origin: .replayGain, loudness: -14.75), "\(name)")
    }
    let opus = try AudioFileReader(path: scratch / "a.opus")
    #expect(opus.statedLoudness == StatedLoudness(origin: .r128, loudness: -21))
    #expect(try AudioFileReader(path: scratch / "in.wav").statedLoudness == nil)
  }

  // MARK: The loudness box

  /// Returns one entry of ISO 14496-12, 12.2.7.2, with the method and value of each measurement.
  private func entry(
    downmix: Int = 0, compression: Int = 0, samplePeak: Int = 0, truePeak: Int = 0,
    _ measurements: [(method: Int, value: Int)], equaliser: Int? = nil
  ) -> BitWriter {
    var writer = BitWriter()
    if let equaliser { writer.put(equaliser, 8) }
    writer.put(0, 3)
    writer.put(downmix, 7)
    writer.put(compression, 6)
    writer.put(samplePeak, 12)
    writer.put(truePeak, 12)
    writer.put(0x21, 8)
    writer.put(measurements.count, 8)
    for measurement in measurements {
      writer.put(measurement.method, 8)
      writer.put(measurement.value, 8)
      writer.put(0x23, 8)
    }
    return writer
  }

  @Test func loudnessBoxesAreParsed() {
    // -57.75 + 167 / 4 = -16; 20 - 672 / 32 = -1.
    let plain = LoudnessBox(big(0, 4) + entry(truePeak: 672, [(2, 100), (1, 167)]).bytes)
    #expect(plain.loudness == -16)
    #expect(plain.peak == -1)
    let anchored = LoudnessBox(big(0, 4) + entry(samplePeak: 640, [(2, 100)]).bytes)
    #expect(anchored.loudness == -32.75)
    #expect(anchored.peak == 0)
    let several = LoudnessBox(
      big(0x0100_0000, 4) + [3] + entry(downmix: 2, [(1, 1)], equaliser: 0).bytes
        + entry(compression: 1, [(1, 2)], equaliser: 0).bytes
        + entry([(1, 167)], equaliser: 0).bytes)
    #expect(several.loudness == -16)
    #expect(LoudnessBox(big(0, 4) + entry(downmix: 1, [(1, 167)]).bytes).loudness == nil)
  }

  @Test func damagedBoxesAreNotReadBeyondTheirEnd() {
    var random = SeededGenerator.forTest()
    let whole = big(0, 4) + entry(truePeak: 672, [(2, 100), (1, 167)]).bytes
    for count in 0..<whole.count {
      #expect(LoudnessBox(Array(whole.prefix(count))).loudness == nil)
    }
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if let loudness = LoudnessBox(bytes).loudness {
        #expect((-57.75...6).contains(loudness))
      }
    }
  }

  @Test func loudnessBoxesAreReadFromFiles() throws {
    let scratch = Scratch()
    scratch.write(
      RawWAV(signal: noise(channels: 2, frames: 24_000), samples: .int16).bytes, to: "in.wav")
    try scratch.ffmpeg(["-i", "@in.wav", "-c:a", "alac", "@a.m4a"])
    let tlou = atom("tlou", big(0, 4) + entry(truePeak: 672, [(1, 167)]).bytes)
    let box = atom("udta", atom("ludt", tlou))
    for path in [["moov"], ["moov", "trak"]] {
      scratch.write(
        appending(box, to: path, of: scratch.bytes(of: "a.m4a")), to: "b.m4a")
      let stated = try AudioFileReader(path: scratch / "b.m4a").statedLoudness
      #expect(stated == StatedLoudness(origin: .loudnessBox, loudness: -16, peak: -1))
    }
  }

  /// Appends a box to the content of another one. The index follows the samples, so these stay in
  /// place.
  private func appending(_ box: [UInt8], to path: [String], of file: [UInt8]) -> [UInt8] {
    var file = file
    var (start, end) = (0, file.count)
    var sizes: [Int] = []
    for type in path {
      while start < end {
        let size = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        if Array(file[start + 4..<start + 8]) == Array(type.utf8) {
          sizes.append(start)
          (start, end) = (start + 8, start + size)
          break
        }
        start += size
      }
    }
    for place in sizes {
      let size = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      file.replaceSubrange(place..<place + 4, with: big(size + box.count, 4))
    }
    file.insert(contentsOf: box, at: end)
    return file
  }
}
