// SPDX-License-Identifier: Apache-2.0

/// A WAV file written byte by byte, so that a test can choose any contents, valid or not.
struct RawWAV {
  enum Samples {
    case int16
    case int24
    case float
  }

  var signal: Planar
  var rate = 48000
  var samples = Samples.float
  /// The 16 bytes of the GUID for WAVE_FORMAT_EXTENSIBLE; nil for WAVE_FORMAT_PCM or _IEEE_FLOAT.
  var subformat: [UInt8]?
  var mask: UInt32 = 0
  /// Values that the header states instead of the real ones.
  var statedChannels: Int?
  var statedDataBytes: Int?

  var bytes: [UInt8] {
    let width = samples == .int16 ? 2 : samples == .int24 ? 3 : 4
    let channels = statedChannels ?? signal.count
    let data = interleaved
    var format: [UInt8] = []
    let tag = subformat != nil ? 0xFFFE : samples == .float ? 3 : 1
    format += little(tag, 2) + little(channels, 2) + little(rate, 4)
    format += little(rate * channels * width, 4) + little(channels * width, 2)
    format += little(8 * width, 2)
    if let subformat {
      format += little(22, 2) + little(8 * width, 2) + little(Int(mask), 4) + subformat
    }
    let stated = statedDataBytes ?? data.count
    var body = Array("WAVEfmt ".utf8) + little(format.count, 4) + format
    body += Array("data".utf8) + little(stated, 4) + data
    return Array("RIFF".utf8) + little(stated + body.count - data.count, 4) + body
  }

  private var interleaved: [UInt8] {
    var bytes: [UInt8] = []
    let frames = signal.first?.count ?? 0
    bytes.reserveCapacity(frames * signal.count * 4)
    for frame in 0..<frames {
      for plane in signal {
        let x = plane[frame]
        switch samples {
        case .int16: bytes += little(Int(x * 0x1p15), 2)
        case .int24: bytes += little(Int(x * 0x1p23), 3)
        case .float: bytes += little(Int(x.bitPattern), 4)
        }
      }
    }
    return bytes
  }
}

func little(_ value: Int, _ width: Int) -> [UInt8] {
  (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

func big(_ value: Int, _ width: Int) -> [UInt8] { little(value, width).reversed() }
