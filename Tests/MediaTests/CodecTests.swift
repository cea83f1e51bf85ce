// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Media
import Testing

@Suite struct CodecTests {
  @Test func losslessCodecsAreBitExactAndInOrder() throws {
    let scratch = Scratch()
    let signal = noise(channels: 4, frames: 9001)
    scratch.write(RawWAV(signal: signal, samples: .int24).bytes, to: "in.wav")
    let files: [(name: String, arguments: [String])] = [
      ("a.flac", ["-c:a", "flac", "-sample_fmt", "s32", "-bits_per_raw_sample", "24"]),
      ("a.m4a", ["-c:a", "alac", "-sample_fmt", "s32p"]),
      ("a.caf", ["-c:a", "alac", "-sample_fmt", "s32p"]),
      ("flac.mp4", ["-c:a", "flac", "-sample_fmt", "s32", "-strict", "-2"]),
      ("flac.ogg", ["-c:a", "flac", "-sample_fmt", "s32"]),
      ("wv.wv", ["-c:a", "wavpack", "-sample_fmt", "s32p"]),
      ("a.tta", ["-c:a", "tta", "-sample_fmt", "s32"]),
      ("s24.wav", ["-c:a", "pcm_s24le"]), ("s32.wav", ["-c:a", "pcm_s32le"]),
      ("f32.wav", ["-c:a", "pcm_f32le"]), ("f64.wav", ["-c:a", "pcm_f64le"]),
      ("s24.aiff", ["-c:a", "pcm_s24be"]), ("s24.mov", ["-c:a", "pcm_s24le"]),
      ("s24.mkv", ["-c:a", "pcm_s24le"]), ("f32.mka", ["-c:a", "pcm_f32le"]),
      ("s24.au", ["-c:a", "pcm_s24be"]), ("s24.w64", ["-c:a", "pcm_s24le"]),
      ("s64.nut", ["-c:a", "pcm_s64le"]), ("u24.nut", ["-c:a", "pcm_u24le"]),
      ("p24.nut", ["-c:a", "pcm_s24le_planar"]),
    ]
    try scratch.ffmpeg(["-i", "@in.wav"] + files.flatMap { $0.arguments + ["@" + $0.name] })
    for name in files.map(\.name) {
      let reader = try AudioFileReader(path: scratch / name)
      #expect(try readAll(reader) == signal, "\(name) (\(reader.track.codec))")
      #expect(reader.warnings.isEmpty, "\(name): \(reader.warnings)")
      if name != "a.caf" {  // Its header states whole packets.
        #expect(reader.duration.map { $0 == 9001 } ?? true, "\(name)")
      }
    }
  }

  @Test func narrowPCMIsExact() throws {
    let scratch = Scratch()
    for bits in [8, 16] {
      let signal = noise(channels: 2, frames: 2000, bits: bits)
      scratch.write(RawWAV(signal: signal, samples: .int16).bytes, to: "in.wav")
      let names = bits == 8 ? ["u8.wav"] : ["s16.wav", "s16.flac", "s16.m4a"]
      let codec = ["u8.wav": "pcm_u8", "s16.wav": "pcm_s16le", "s16.flac": "flac"]
      try scratch.ffmpeg(
        ["-i", "@in.wav"] + names.flatMap { ["-c:a", codec[$0] ?? "alac", "@" + $0] })
      for name in names {
        #expect(try readAll(AudioFileReader(path: scratch / name)) == signal, "\(name)")
      }
    }
  }

  /// Float32 has 24 significant bits, so wider integers and float64 are rounded to the nearest
  /// value.
  @Test func widePCMIsRoundedToNearest() throws {
    let scratch = Scratch()
    let values: [Int] = [
      1, -1, 16_777_217, 16_777_219, -16_777_217, 33_554_435, 2_147_483_647, -2_147_483_648,
    ]
    let data = values.flatMap { little($0, 4) }
    var wave = RawWAV(signal: [[Float](repeating: 0, count: values.count)]).bytes
    wave[20] = 1  // WAVE_FORMAT_PCM with 32 bits
    scratch.write(Array(wave.dropLast(data.count)) + data, to: "s32.wav")
    let expected = values.map { Float(Double($0) / 2_147_483_648) }
    #expect(try readAll(AudioFileReader(path: scratch / "s32.wav")) == [expected])
  }

  @Test(arguments: [9, 16, 36, 64, 66])
  func highOrdersAreBitExactAndDetectedAsAmbisonics(channels: Int) throws {
    let scratch = Scratch()
    let signal = noise(channels: channels, frames: 1500)
    let path = scratch.write(RawWAV(signal: signal, samples: .int24).bytes, to: "in.wav")
    let reader = try AudioFileReader(path: path)
    #expect(try readAll(reader, step: 333) == signal)
    let layout = try LayoutOption.auto.resolve(track: reader.track)
    guard case .ambisonics(let order, .ambiX, let headLocked) = layout else {
      Issue.record("\(layout)")
      return
    }
    #expect((order + 1) * (order + 1) + (headLocked ? 2 : 0) == channels)
  }

  struct Lossy: CustomTestStringConvertible, Sendable {
    let name: String
    let channels: Int
    let arguments: [String]
    /// The number of frames by which the file may be too long, too short or late, because its
    /// format cannot state the exact length and delay.
    var excess = 0
    var shortage = 0
    var delay = 0
    var testDescription: String { "\(name), \(channels) channels" }
  }

  @Test(arguments: [
    Lossy(name: "a.m4a", channels: 6, arguments: ["-c:a", "aac", "-b:a", "384k"]),
    Lossy(
      name: "a.aac", channels: 2, arguments: ["-c:a", "aac", "-b:a", "192k"], excess: 2048,
      delay: 1024),
    Lossy(
      name: "a.ac3", channels: 6, arguments: ["-c:a", "ac3", "-b:a", "448k"], excess: 1536 + 256,
      delay: 256),
    Lossy(
      name: "a.eac3", channels: 6, arguments: ["-c:a", "eac3", "-b:a", "448k"],
      excess: 1536 + 256, delay: 256),
    Lossy(name: "a.opus", channels: 2, arguments: ["-c:a", "libopus", "-b:a", "192k"]),
    Lossy(name: "a.mp3", channels: 2, arguments: ["-c:a", "libmp3lame", "-b:a", "256k"]),
    // The Ogg muxer and demuxer of FFmpeg 5.1 miscount the last Vorbis block.
    Lossy(
      name: "a.ogg", channels: 6, arguments: ["-c:a", "libvorbis", "-q:a", "8"], excess: 128,
      shortage: 128),
    Lossy(name: "opus.webm", channels: 2, arguments: ["-c:a", "libopus", "-b:a", "192k"]),
    Lossy(
      name: "foa.opus", channels: 4,
      arguments: ["-c:a", "libopus", "-mapping_family", "2", "-b:a", "512k"]),
    Lossy(
      name: "foa2.opus", channels: 6,
      arguments: ["-c:a", "libopus", "-mapping_family", "2", "-b:a", "768k"]),
    Lossy(
      name: "hoa.opus", channels: 16,
      arguments: ["-c:a", "libopus", "-mapping_family", "2", "-b:a", "2048k"]),
  ])
  func lossyCodecsKeepLengthChannelOrderAndTime(_ codec: Lossy) throws {
    let scratch = Scratch()
    let frames = 24000
    let signal = tones(channels: codec.channels, rate: 48000, frames: frames)
    let mask: UInt32 = codec.channels == 6 && !codec.name.hasPrefix("foa") ? 0x3F : 0
    scratch.write(
      RawWAV(signal: signal, subformat: mask == 0 ? nil : floatGUID, mask: mask).bytes,
      to: "in.wav")
    try scratch.ffmpeg(
      ["-i", "@in.wav", "-af", "aresample=48000"] + codec.arguments + ["@" + codec.name])
    let reader = try AudioFileReader(path: scratch / codec.name)
    let decoded = try readAll(reader)
    #expect(reader.sampleRate == 48000)
    #expect(reader.warnings.isEmpty, "\(reader.warnings)")
    #expect(
      ((frames - codec.shortage)...(frames + codec.excess)).contains(decoded[0].count),
      "\(decoded[0].count)")
    for channel in 0..<codec.channels where mask == 0 || channel != 3 {
      let late = decoded[channel].dropFirst(codec.delay + 4800).prefix(12000)
      let residual = residualDecibels(late, signal[channel].dropFirst(4800).prefix(12000))
      #expect(residual < -20, "channel \(channel): \(residual) dB")
    }
    if codec.arguments.contains("-mapping_family") {
      let order = codec.channels == 16 ? 3 : 1
      let layout = ChannelLayout.ambisonics(
        order: order, convention: .ambiX, headLocked: codec.channels == 6)
      #expect(reader.track.layout == layout)
    }
  }
}

/// KSDATAFORMAT_SUBTYPE_IEEE_FLOAT.
let floatGUID: [UInt8] = [3, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
