// SPDX-License-Identifier: Apache-2.0

/// A QuickTime file of 24-bit PCM, with any box in its sample description.
struct QuickTimeFile {
  var signal: Planar
  var rate = 48000
  /// The box, including its header.
  var box: [UInt8]
  /// Version of the sound sample description, 0 to 2.
  var version = 0
  var isInWave = false

  var bytes: [UInt8] {
    let samples = bigEndian24(signal)
    let type = atom("ftyp", Array("qt  ".utf8) + big(0, 4) + Array("qt  ".utf8))
    let data = atom("mdat", samples)
    return type + data + movie(offset: type.count + 8)
  }

  private var frames: Int { signal[0].count }

  private func movie(offset: Int) -> [UInt8] {
    let matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000].flatMap { big($0, 4) }
    let movieHeader =
      big(0, 12) + big(rate, 4) + big(frames, 4) + big(0x10000, 4) + big(0x100, 2) + big(0, 10)
      + matrix + big(0, 24) + big(2, 4)
    let trackHeader =
      big(3, 4) + big(0, 8) + big(1, 4) + big(0, 4) + big(frames, 4) + big(0, 8) + big(0, 4)
      + big(0x100, 2) + big(0, 2) + matrix + big(0, 8)
    let mediaHeader = big(0, 12) + big(rate, 4) + big(frames, 4) + big(0, 4)
    let handler = big(0, 4) + Array("mhlr".utf8) + Array("soun".utf8) + big(0, 13)
    let information =
      atom("smhd", big(0, 8))
      + atom(
        "dinf", atom("dref", big(0, 4) + big(1, 4) + atom("url ", big(1, 4))))
      + atom("stbl", sampleTable(offset: offset))
    let media = atom("mdhd", mediaHeader) + atom("hdlr", handler) + atom("minf", information)
    let track = atom("tkhd", trackHeader) + atom("mdia", media)
    return atom("moov", atom("mvhd", movieHeader) + atom("trak", track))
  }

  private func sampleTable(offset: Int) -> [UInt8] {
    let width = 3 * signal.count
    return atom("stsd", big(0, 4) + big(1, 4) + description)
      + atom("stts", big(0, 4) + big(1, 4) + big(frames, 4) + big(1, 4))
      + atom("stsc", big(0, 4) + big(1, 4) + big(1, 4) + big(frames, 4) + big(1, 4))
      + atom("stsz", big(0, 4) + big(version == 1 ? 1 : width, 4) + big(frames, 4))
      + atom("stco", big(0, 4) + big(1, 4) + big(offset, 4))
  }

  private var description: [UInt8] {
    let channels = signal.count
    var entry = big(0, 6) + big(1, 2) + big(version, 2) + big(0, 6)
    if version == 2 {
      entry += big(3, 2) + big(16, 2) + big(0xFFFE, 2) + big(0, 2) + big(0x10000, 4) + big(72, 4)
      entry += big(Int(Double(rate).bitPattern), 8) + big(channels, 4) + big(0x7F00_0000, 4)
      // The samples are signed, packed, big-endian integers.
      entry += big(24, 4) + big(0xE, 4) + big(3 * channels, 4) + big(1, 4)
    } else {
      entry += big(channels, 2) + big(version == 1 ? 16 : 24, 2) + big(version == 1 ? 0xFFFE : 0, 2)
      entry += big(0, 2) + big(rate << 16, 4)
    }
    if version == 1 { entry += big(1, 4) + big(3, 4) + big(3 * channels, 4) + big(2, 4) }
    let boxes = isInWave ? atom("wave", box) : box
    return atom(version == 2 ? "lpcm" : "in24", entry + boxes)
  }
}

func atom(_ type: String, _ payload: [UInt8]) -> [UInt8] {
  big(8 + payload.count, 4) + Array(type.utf8) + payload
}

/// Returns a Core Audio file of 24-bit PCM.
func coreAudioFile(_ signal: Planar, chan: [UInt8]) -> [UInt8] {
  let samples = bigEndian24(signal)
  let description =
    big(Int(Double(48000).bitPattern), 8) + Array("lpcm".utf8) + big(0, 4)
    + big(3 * signal.count, 4) + big(1, 4) + big(signal.count, 4) + big(24, 4)
  func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    Array(type.utf8) + big(payload.count, 8) + payload
  }
  return Array("caff".utf8) + big(1, 2) + big(0, 2) + chunk("desc", description)
    + chunk("chan", chan) + chunk("data", big(0, 4) + samples)
}

private func bigEndian24(_ signal: Planar) -> [UInt8] {
  signal[0].indices.flatMap { frame in signal.flatMap { big(Int($0[frame] * 0x1p23), 3) } }
}
