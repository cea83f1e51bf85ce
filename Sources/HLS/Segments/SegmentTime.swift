// SPDX-License-Identifier: Apache-2.0

/// The start and duration of a segment, read from its bytes. Used for fragments without a playlist.
struct SegmentTime: Equatable {
  /// Time at which the sound starts, in s; nil if unknown. For MP4, this is the time at which the
  /// first track starts.
  var start: Double?
  /// Duration in s; nil for formats other than ADTS. Also nil without ADTS frames, or if a frame's
  /// header states an invalid sample rate or length.
  var duration: Double?

  /// Reads the times without decoding the sound.
  ///
  /// - Parameter initialisation: the initialisation section, for the time scale of MP4; empty if
  ///   there is none.
  init(_ bytes: [UInt8], format: SegmentFormat, initialisation: [UInt8]) {
    switch format {
    case .transportStream: start = Self.transportStreamStart(bytes)
    case .fragmentedMP4: start = Self.fragmentStart(bytes, initialisation)
    case .aac:
      start = ID3Tag.timestamp(bytes).map { Double($0) / 90_000 }
      duration = Self.duration(ofADTS: bytes)
    case .ac3, .mpegAudio: start = ID3Tag.timestamp(bytes).map { Double($0) / 90_000 }
    }
  }

  /// Returns the first presentation timestamp of an audio stream, in s (ISO/IEC 13818-1, sections
  /// 2.4.3.2 and 2.4.3.6); nil if there is none.
  private static func transportStreamStart(_ bytes: [UInt8]) -> Double? {
    for packet in stride(from: 0, to: bytes.count - 187, by: 188) {
      guard bytes[packet + 1] & 0x40 != 0 else { continue }
      var place = packet + 4
      if bytes[packet + 3] & 0x20 != 0 { place += 1 + Int(bytes[packet + 4]) }
      guard bytes[packet + 3] & 0x10 != 0, place + 14 <= packet + 188,
        bytes[place..<place + 3].elementsEqual([0, 0, 1])
      else { continue }
      let isAudio = bytes[place + 3] & 0xE0 == 0xC0 || [0xBD, 0xFD].contains(bytes[place + 3])
      guard isAudio, bytes[place + 7] & 0x80 != 0 else { continue }
      let digits = bytes[(place + 9)..<(place + 14)].map(UInt64.init)
      let high = (digits[0] >> 1) & 7
      let middle = (digits[1] << 8 | digits[2]) >> 1
      let low = (digits[3] << 8 | digits[4]) >> 1
      return Double(high << 30 | middle << 15 | low) / 90_000
    }
    return nil
  }

  /// Returns the decode time of the first fragment, in s (ISO/IEC 14496-12, section 8.8.12); nil if
  /// the decode time or the time scale is missing, or if the time scale is 0.
  private static func fragmentStart(_ bytes: [UInt8], _ initialisation: [UInt8]) -> Double? {
    guard let time = find(["moof", "traf", "tfdt"], in: bytes),
      let header = find(["moov", "trak", "mdia", "mdhd"], in: initialisation)
        ?? find(["moov", "trak", "mdia", "mdhd"], in: bytes)
    else { return nil }
    let scale = number(header.content, at: header.content.first == 1 ? 20 : 12, 4)
    let ticks = number(time.content, at: 4, time.content.first == 1 ? 8 : 4)
    guard let scale, let ticks, scale > 0 else { return nil }
    return Double(ticks) / Double(scale)
  }

  /// Finds a box by its path of box types, outermost first; the first box of each type counts.
  /// Returns the content of the box and the offset of the first byte after it; nil if a box of the
  /// path is missing.
  private static func find(_ path: [String], in bytes: [UInt8]) -> (content: [UInt8], end: Int)? {
    var (place, limit) = (0, bytes.count)
    for (depth, type) in path.enumerated() {
      var box = MP4Box(bytes, at: place, within: limit)
      while let other = box, other.type != type {
        box = MP4Box(bytes, at: other.end, within: limit)
      }
      guard let box else { return nil }
      if depth == path.count - 1 { return (Array(bytes[box.start..<box.end]), box.end) }
      (place, limit) = (box.start, box.end)
    }
    return nil
  }

  private static func number(_ bytes: [UInt8], at place: Int, _ count: Int) -> UInt64? {
    guard place + count <= bytes.count else { return nil }
    return bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the total duration of the consecutive ADTS frames after any ID3 tags, in s. Returns
  /// nil if there are no frames, or if a header states an invalid sample rate or frame length.
  ///
  /// An ADTS frame contains 1 to 4 raw data blocks of 1024 samples each (ISO/IEC 13818-7, section
  /// 6.2).
  private static func duration(ofADTS bytes: [UInt8]) -> Double? {
    let rates = [
      96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    var place = ID3Tag.length(bytes)
    var seconds = 0.0
    while place + 7 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] & 0xF6 == 0xF0 {
      let rate = Int(bytes[place + 2] >> 2) & 15
      let size =
        Int(bytes[place + 3] & 3) << 11 | Int(bytes[place + 4]) << 3
        | Int(bytes[place + 5] >> 5)
      guard rates.indices.contains(rate), size >= 7 else { return nil }
      seconds += 1024 * Double(1 + bytes[place + 6] & 3) / Double(rates[rate])
      place += size
    }
    return seconds > 0 ? seconds : nil
  }
}
