// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Media
import Testing

/// Tests channels that change in mid-stream and are returned as they are.
@Suite struct LayoutRunTests {
  private static let surround = ChannelLayout.speakers([
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ])
  /// Multiples of the AC-3 frame length.
  private static let lengths = [30, 20, 25].map { $0 * 1536 }

  /// Writes 5.1, stereo and 5.1 parts of one continuous sound, in which channel c is a tone of 400
  /// + 150 c Hz, and returns their names.
  private func pieces(_ scratch: Scratch, codec: String) throws -> [String] {
    var start = 0
    var paths: [String] = []
    for (index, length) in Self.lengths.enumerated() {
      let channels = index == 1 ? 2 : 6
      let whole = tones(channels: channels, rate: 48000, frames: start + length)
      let part = whole.map { Array($0[start...]) }
      scratch.write(
        RawWAV(signal: part, subformat: floatGUID, mask: channels == 6 ? 0x60F : 3).bytes,
        to: "\(index).wav")
      try scratch.ffmpeg([
        "-i", "@\(index).wav", "-c:a", codec, "-b:a", "640k", "@\(index).\(codec)",
      ])
      paths.append("\(index).\(codec)")
      start += length
    }
    return paths
  }

  private struct Run {
    let layout: ChannelLayout
    var sound: Planar
  }

  private func runs(_ reader: AudioFileReader, step: Int = 1000) throws -> [Run] {
    var runs: [Run] = []
    while let layout = try reader.nextLayout() {
      if runs.last?.layout != layout {
        runs.append(
          Run(layout: layout, sound: Planar(repeating: [], count: layout.channelCount)))
      }
      let piece = try read(reader, channels: layout.channelCount, frames: step)
      for channel in piece.indices { runs[runs.count - 1].sound[channel] += piece[channel] }
    }
    return runs
  }

  private func read(
    _ reader: AudioFileReader, channels: Int, frames: Int
  ) throws -> Planar {
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
    let storage = UnsafeMutablePointer<Float>.allocate(capacity: channels * frames)
    defer {
      planes.deallocate()
      storage.deallocate()
    }
    for channel in 0..<channels { (planes + channel).initialize(to: storage + channel * frames) }
    let count = try reader.read(into: planes, frames: frames)
    return (0..<channels).map {
      Array(UnsafeBufferPointer(start: storage + $0 * frames, count: count))
    }
  }

  @Test(arguments: ["ac3", "eac3"], ["bare", "ts"])
  func runsKeepTheirChannelLayouts(codec: String, container: String) throws {
    let scratch = Scratch()
    var names = try pieces(scratch, codec: codec)
    if container == "ts" {
      var start = 0
      for (index, name) in names.enumerated() {
        try scratch.ffmpeg([
          "-i", "@\(name)", "-c", "copy", "-output_ts_offset", "\(Double(start) / 48000)",
          "-f", "mpegts", "@\(index).ts",
        ])
        names[index] = "\(index).ts"
        start += Self.lengths[index]
      }
    }
    let path = scratch.write(
      names.flatMap { scratch.bytes(of: $0) }, to: "whole.\(names[0].suffix(4))")
    for rate in [48000, 44100] {
      let reader = try AudioFileReader(path: path, sampleRate: rate)
      #expect(reader.track.canChangeChannels)
      reader.followsLayout = true
      let runs = try runs(reader)
      #expect(runs.map(\.layout) == [Self.surround, .stereo, Self.surround])
      // Each run begins on the frame grid of the entire file.
      let ends = [0, 1, 2].map { Self.lengths[...$0].reduce(0, +) }
      let places = [0] + ends.map { ($0 * rate + 47999) / 48000 }
      let counts = runs.map { $0.sound[0].count }
      #expect(counts == (0..<3).map { places[$0 + 1] - places[$0] })
      for (index, run) in runs.enumerated() {
        let truth = tones(channels: 6, rate: rate, frames: places[index + 1])
        let middle = 4000..<counts[index] - 4000
        // The encoder has a delay of 256 frames.
        let shift = 256.0 * Double(rate) / 48000
        for channel in [0, 1] {
          let delayed = sineShifted(400 + 150 * Double(channel), rate, middle, places[index], shift)
          let same = residualDecibels(
            run.sound[channel][middle], truth[channel][middle.shifted(places[index])])
          let late = residualDecibels(run.sound[channel][middle], delayed[...])
          #expect(min(same, late) < -40, "\(codec) \(container) run \(index): \(same), \(late) dB")
        }
      }
      #expect(reader.warnings.isEmpty)
      try checkSeeks(reader, runs, places)
    }
  }

  private func sineShifted(
    _ hertz: Double, _ rate: Int, _ frames: Range<Int>, _ start: Int, _ shift: Double
  ) -> [Float] {
    frames.map {
      Float(0.25 * sin(2 * .pi * hertz * (Double($0 + start) - shift) / Double(rate)))
    }
  }

  private func checkSeeks(_ reader: AudioFileReader, _ runs: [Run], _ places: [Int]) throws {
    for (index, run) in runs.enumerated() {
      let offset = run.sound[0].count / 2
      try reader.seek(toFrame: places[index] + offset)
      #expect(try reader.nextLayout() == run.layout)
      let piece = try read(reader, channels: run.layout.channelCount, frames: 2000)
      for channel in [0, 1] {
        let residual = residualDecibels(
          piece[channel][...], run.sound[channel][offset..<offset + 2000])
        #expect(residual < -60, "seek into run \(index)")
      }
    }
  }

  /// The links of a chained Ogg are lossless, so every sample must equal the input.
  @Test func chainedOggKeepsTheLayoutOfEachLink() throws {
    let scratch = Scratch()
    let parts = [2, 6, 2].map { noise(channels: $0, frames: 20_000) }
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      let mask: UInt32 = part.count == 6 ? 0x3F : 3
      scratch.write(
        RawWAV(signal: part, samples: .int24, subformat: [1] + floatGUID.dropFirst(), mask: mask)
          .bytes, to: "a.wav")
      try scratch.ffmpeg(["-i", "@a.wav", "-c:a", "flac", "@\(index).oga"])
      bytes += scratch.bytes(of: "\(index).oga")
    }
    let reader = try AudioFileReader(path: scratch.write(bytes, to: "chain.oga"))
    reader.followsLayout = true
    let runs = try runs(reader)
    #expect(runs.map(\.layout.channelCount) == [2, 6, 2])
    #expect(runs.map(\.sound) == parts)
  }

  /// Without `followsLayout`, all frames have the first channels.
  @Test func layoutStaysFixedUnlessFollowed() throws {
    let scratch = Scratch()
    let names = try pieces(scratch, codec: "ac3")
    let path = scratch.write(names.flatMap { scratch.bytes(of: $0) }, to: "whole.ac3")
    let reader = try AudioFileReader(path: path)
    let decoded = try readAll(reader)
    #expect(decoded.count == 6 && decoded[0].count == Self.lengths.reduce(0, +))
    #expect(reader.layout == Self.surround)
  }

  @Test func possibleLaterLayoutsAreKnownOnOpening() throws {
    let scratch = Scratch()
    scratch.write(RawWAV(signal: tones(channels: 2, rate: 48000, frames: 30720)).bytes, to: "2.wav")
    let wav = try AudioFileReader(path: scratch / "2.wav")
    #expect(!wav.track.canChangeChannels && wav.track.laterLayouts.isEmpty)
    for (name, codec, later) in [
      ("a.ts", "ac3", true), ("a.ac3", "ac3", true), ("a.mkv", "ac3", false),
      ("a.mp3", "libmp3lame", false), ("b.ts", "mp2", false), ("c.ts", "aac", true),
      ("a.m4a", "aac", false), ("a.flac", "flac", false),
    ] {
      try scratch.ffmpeg(["-i", "@2.wav", "-c:a", codec, "@\(name)"])
      let track = try AudioFileReader(path: scratch / name).track
      #expect(track.laterLayouts.isEmpty == !later, "\(name)")
      #expect(track.canChangeChannels == (codec != "flac"), "\(name)")
    }
  }

  @Test(arguments: [
    ("on", MatrixEncoding.dolbySurround), ("off", nil), ("notindicated", nil),
  ])
  func matrixEncodingIsDetected(mode: String, encoding: MatrixEncoding?) throws {
    let scratch = Scratch()
    scratch.write(RawWAV(signal: tones(channels: 2, rate: 48000, frames: 30720)).bytes, to: "2.wav")
    for codec in ["ac3", "eac3"] {
      try scratch.ffmpeg(["-i", "@2.wav", "-c:a", codec, "-dsur_mode", mode, "@a.\(codec)"])
      let track = try AudioFileReader(path: scratch / "a.\(codec)").track
      #expect(track.matrixEncoding == encoding && !track.isBinaural)
    }
  }

  @Test func binauralTracksAreDetected() throws {
    let scratch = Scratch()
    scratch.write(RawWAV(signal: tones(channels: 2, rate: 48000, frames: 30720)).bytes, to: "2.wav")
    let cases: [(name: String, arguments: [String], isBinaural: Bool)] = [
      ("a.flac", ["-metadata", "BINAURAL=1"], true),
      ("b.flac", ["-metadata", "binaural=yes"], true),
      ("c.flac", ["-metadata", "BINAURAL=0"], false), ("a.mka", ["-metadata", "BINAURAL=1"], true),
      ("b.mka", ["-metadata:s:a:0", "title=English (Binaural)"], true),
      ("c.mka", ["-metadata:s:a:0", "title=Monaural"], false),
      ("a.opus", ["-metadata", "BINAURAL=true"], true), ("b.opus", [], false),
      // An album may have that name.
      ("d.flac", ["-metadata", "album=Binaural"], false),
      ("a.ac3", ["-dheadphone_mode", "on"], true), ("b.ac3", [], false),
      ("a.eac3", ["-dheadphone_mode", "on"], true),
    ]
    for (name, arguments, isBinaural) in cases {
      try scratch.ffmpeg(["-i", "@2.wav"] + arguments + ["@\(name)"])
      #expect(try AudioFileReader(path: scratch / name).track.isBinaural == isBinaural, "\(name)")
    }
  }
}

extension Range<Int> {
  fileprivate func shifted(_ by: Int) -> Range<Int> { lowerBound + by..<upperBound + by }
}
