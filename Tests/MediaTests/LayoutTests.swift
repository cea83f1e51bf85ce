// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Media
import TestSupport
import Testing

@Suite struct LayoutTests {
  private static let silence = Planar(repeating: [Float](repeating: 0, count: 64), count: 4)

  /// Returns a `chan` payload that consists of a layout tag only.
  private static func tag(_ number: Int, _ channels: Int) -> [UInt8] {
    big(number << 16 | channels, 4) + big(0, 8)
  }

  private static func labels(_ labels: [Int]) -> [UInt8] {
    big(0, 8) + big(labels.count, 4) + labels.flatMap { big($0, 4) + big(0, 16) }
  }

  private static let chanCases: [(payload: [UInt8], channels: Int, layout: ChannelLayout)] = [
    (tag(190, 4), 4, .ambisonics(order: 1, convention: .ambiX, headLocked: false)),
    (tag(190, 16), 16, .ambisonics(order: 3, convention: .ambiX, headLocked: false)),
    (tag(191, 9), 9, .ambisonics(order: 2, convention: .n3d, headLocked: false)),
    (tag(107, 4), 4, .ambisonics(order: 1, convention: .fuMa, headLocked: false)),
    (
      labels((0..<4).map { 2 << 16 | $0 } + [1, 2]), 6,
      .ambisonics(order: 1, convention: .ambiX, headLocked: true)
    ),
    (
      labels((0..<9).map { 3 << 16 | $0 }), 9,
      .ambisonics(order: 2, convention: .n3d, headLocked: false)
    ),
    // Tags that do not match the number of channels are ignored.
    (tag(190, 9), 4, .unknown(channels: 4)),
    (tag(190, 4), 16, .unknown(channels: 16)),
  ]

  @Test func quickTimeChanBoxIsRead() throws {
    let scratch = Scratch()
    for (payload, channels, layout) in Self.chanCases {
      let file = QuickTimeFile(
        signal: noise(channels: channels, frames: 100),
        box: big(12 + payload.count, 4) + Array("chan".utf8) + big(0, 4) + payload)
      for version in [0, 1, 2] {
        for isWrapped in [false, true] {
          var file = file
          file.version = version
          file.isInWave = isWrapped
          let path = scratch.write(file.bytes, to: "a.mov")
          let reader = try AudioFileReader(path: path)
          #expect(reader.track.layout == layout, "version \(version), wave \(isWrapped)")
          #expect(try readAll(reader) == file.signal)
        }
      }
    }
  }

  @Test func spatialAudioBoxIsRead() throws {
    let scratch = Scratch()
    let map = (0..<4).flatMap { big($0, 4) }
    let box = big(20 + 16, 4) + Array("SA3D".utf8) + [0, 0] + big(1, 4) + [0, 0] + big(4, 4) + map
    let file = QuickTimeFile(signal: noise(channels: 4, frames: 100), box: box)
    let reader = try AudioFileReader(path: scratch.write(file.bytes, to: "a.mov"))
    #expect(
      reader.track.layout == .ambisonics(order: 1, convention: .ambiX, headLocked: false))
  }

  @Test func damagedBoxesNeverCrashTheReader() throws {
    let scratch = Scratch()
    let whole = QuickTimeFile(
      signal: noise(channels: 4, frames: 100),
      box: big(24, 4) + Array("chan".utf8) + big(0, 4) + Self.tag(190, 4)
    ).bytes
    var generator = SeededGenerator(1)
    func random(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<4 { bytes[random(below: bytes.count)] = UInt8(random(below: 256)) }
      let path = scratch.write(bytes, to: "a.mov")
      // Opening and reading may fail, but must return.
      if let reader = try? AudioFileReader(path: path) {
        for _ in 0..<5 { _ = try? read(reader, frames: 1000) }
      }
    }
  }

  @Test func coreAudioChunkIsRead() throws {
    let scratch = Scratch()
    for (payload, channels, layout) in Self.chanCases {
      let signal = noise(channels: channels, frames: 100)
      let path = scratch.write(coreAudioFile(signal, chan: payload), to: "a.caf")
      let reader = try AudioFileReader(path: path)
      #expect(reader.track.layout == layout)
      #expect(try readAll(reader) == signal)
    }
  }

  @Test(arguments: [1, 3], [4, 9, 16, 5])
  func ambFilesAreFuMa(format: UInt8, channels: Int) throws {
    let scratch = Scratch()
    let guid: [UInt8] = [
      format, 0, 0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0,
    ]
    let signal = noise(channels: channels, frames: 100)
    let wave = RawWAV(signal: signal, samples: format == 1 ? .int24 : .float, subformat: guid)
    let reader = try AudioFileReader(path: scratch.write(wave.bytes, to: "a.amb"))
    #expect(try readAll(reader) == signal)
    let layout = try? LayoutOption.auto.resolve(track: reader.track)
    let order = [4: 1, 9: 2, 16: 3][channels]
    #expect(
      layout == order.map { .ambisonics(order: $0, convention: .fuMa, headLocked: false) })
  }

  @Test func labelledQuadIsNotReadAsAmbisonics() throws {
    let scratch = Scratch()
    let wave = RawWAV(signal: Self.silence, subformat: floatGUID, mask: 0x33)
    let reader = try AudioFileReader(path: scratch.write(wave.bytes, to: "quad.wav"))
    let quad = ChannelLayout.speakers([.frontLeft, .frontRight, .backLeft, .backRight])
    #expect(try LayoutOption.auto.resolve(track: reader.track) == quad)
    #expect(
      try LayoutOption.foa.resolve(track: reader.track)
        == .ambisonics(order: 1, convention: .ambiX, headLocked: false))
  }

  @Test(arguments: [(0x3F, [Speaker.backLeft, .backRight]), (0x60F, [.sideLeft, .sideRight])])
  func fivePointOneAcceptsBackOrSideSurrounds(mask: Int, surrounds: [Speaker]) throws {
    let scratch = Scratch()
    let signal = noise(channels: 6, frames: 100)
    let wave = RawWAV(signal: signal, subformat: floatGUID, mask: UInt32(mask))
    let reader = try AudioFileReader(path: scratch.write(wave.bytes, to: "a.wav"))
    let expected = ChannelLayout.speakers(
      [.frontLeft, .frontRight, .frontCenter, .lowFrequency] + surrounds)
    #expect(reader.track.layout == expected)
    #expect(try LayoutOption.auto.resolve(track: reader.track) == expected)
    #expect(try LayoutOption("5.1").resolve(track: reader.track) == expected)
  }

  @Test func unlabelledChannelCountsSelectAmbisonics() throws {
    for channels in 1...66 {
      let layout = try? LayoutOption.auto.resolve(.unknown(channels: channels))
      let square = (1...7).first { ($0 + 1) * ($0 + 1) == channels }
      let paired = (1...7).first { ($0 + 1) * ($0 + 1) + 2 == channels }
      let expected = (square ?? paired).map {
        ChannelLayout.ambisonics(
          order: $0, convention: .ambiX, headLocked: square == nil)
      }
      #expect(layout == expected)
    }
  }

  @Test func optionNamesGiveTheirLayouts() throws {
    let counts = [
      "mono": 1, "stereo": 2, "2.1": 3, "3.0": 3, "quad": 4, "4.0": 4, "5.0": 5, "5.1": 6,
      "6.1": 7, "7.1": 8, "5.1.2": 8, "5.1.4": 10, "7.1.2": 10, "7.1.4": 12, "9.1.6": 16,
      "5.1(side)": 6, "FL+FR+LFE": 3, "hexagonal": 6, "7.1(wide)": 8, "5.1.4 ": 0, "": 0,
      "ambisonic 3": 0, "6 channels": 0,
    ]
    for (name, count) in counts {
      guard count > 0 else {
        #expect(throws: MediaError.unknownLayout(name)) { try LayoutOption(name) }
        continue
      }
      let layout = try LayoutOption(name).resolve(.unknown(channels: count))
      guard case .speakers(let speakers) = layout else {
        Issue.record("\(name) is \(layout)")
        continue
      }
      #expect(speakers.count == count && Set(speakers).count == count)
    }
    for name in LayoutOption.names { #expect(try LayoutOption(name).name == name) }
    #expect(try LayoutOption("FuMa") == .fuMa)
    #expect(
      try LayoutOption("7.1").resolve(.unknown(channels: 8))
        == .speakers([
          .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
          .sideRight,
        ]))
  }

  @Test func richestDecodableTrackIsChosen() throws {
    let scratch = Scratch()
    let stereo = noise(channels: 2, frames: 4800)
    let field = noise(channels: 4, frames: 4800)
    scratch.write(RawWAV(signal: stereo, samples: .int24).bytes, to: "stereo.wav")
    scratch.write(RawWAV(signal: field, samples: .int24).bytes, to: "foa.wav")
    try scratch.ffmpeg([
      "-i", "@stereo.wav", "-i", "@foa.wav", "-map", "0", "-map", "1", "-c:a", "pcm_s24le",
      "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "title=Field",
      "-metadata", "title=Two", "-metadata", "artist=Nobody", "@two.mkv",
    ])
    let path = scratch / "two.mkv"
    let reader = try AudioFileReader(path: path)
    #expect(reader.tracks.map(\.channels) == [2, 4])
    #expect(reader.tracks[0].language == "eng" && reader.tracks[1].title == "Field")
    #expect(reader.title == "Two" && reader.artist == "Nobody")
    #expect(reader.track.number == 2)
    #expect(try readAll(reader) == field)
    #expect(try readAll(AudioFileReader(path: path, track: 1)) == stereo)
    #expect(throws: MediaError.noSuchTrack(path: path, track: 3, count: 2)) {
      try AudioFileReader(path: path, track: 3)
    }
  }

  @Test func apacTrackIsReportedAndTheNextTrackPlayed() throws {
    let scratch = Scratch()
    scratch.write(RawWAV(signal: noise(channels: 2, frames: 4800)).bytes, to: "stereo.wav")
    scratch.write(RawWAV(signal: Self.silence).bytes, to: "foa.wav")
    try scratch.ffmpeg([
      "-i", "@foa.wav", "-i", "@stereo.wav", "-map", "0", "-map", "1", "-c:a:0", "pcm_s24le",
      "-c:a:1", "aac", "@pair.mov",
    ])
    var bytes = scratch.bytes(of: "pair.mov")
    let tag = try #require(find(Array("in24".utf8), in: bytes))
    bytes.replaceSubrange(tag..<(tag + 4), with: Array("apac".utf8))
    let path = scratch.write(bytes, to: "apac.mov")
    var reported: [MediaWarning.Kind] = []
    let reader = try AudioFileReader(path: path, onWarning: { reported.append($0.kind) })
    #expect(reader.track.number == 2 && reader.track.codec == "aac")
    #expect(reader.tracks[0].problem == .noDecoder(codec: "apac"))
    #expect(reported == [.trackSkipped])
    #expect("\(reader.warnings[0])".contains("APAC"))
    #expect(throws: MediaError.self) { try AudioFileReader(path: path, track: 1) }
  }
}

func find(_ needle: [UInt8], in bytes: [UInt8]) -> Int? {
  (0...(bytes.count - needle.count)).first { bytes[$0..<($0 + needle.count)].elementsEqual(needle) }
}
