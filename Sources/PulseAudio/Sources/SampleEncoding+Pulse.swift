// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer

/// Returns the server's name for each channel of a map; "invalid" for an unknown position.
func channelNames(_ map: pa_channel_map) -> [String] {
  withUnsafeBytes(of: map.map) { bytes in
    bytes.bindMemory(to: pa_channel_position_t.self).prefix(Int(map.channels)).map {
      pa_channel_position_to_string($0).map { String(cString: $0) } ?? "invalid"
    }
  }
}

extension SampleEncoding {
  init(_ format: pa_sample_format_t) {
    switch format {
    case PA_SAMPLE_FLOAT32LE: self = .float32
    case PA_SAMPLE_S16LE: self = .int16
    case PA_SAMPLE_S24LE: self = .int24
    case PA_SAMPLE_S24_32LE: self = .int24in32
    case PA_SAMPLE_S32LE: self = .int32
    default: self = .other
    }
  }

  var pulseFormat: pa_sample_format_t {
    switch self {
    case .float32, .other: PA_SAMPLE_FLOAT32LE
    case .int16: PA_SAMPLE_S16LE
    case .int24: PA_SAMPLE_S24LE
    case .int24in32: PA_SAMPLE_S24_32LE
    case .int32: PA_SAMPLE_S32LE
    }
  }

  /// Converts `count` samples to float32 with full scale 1. Rounds int32 to 24 significant bits.
  @_noLocks
  func convert(
    _ memory: UnsafeRawPointer, to samples: UnsafeMutablePointer<Float>, count: Int
  ) {
    switch self {
    case .float32, .other:
      UnsafeMutableRawPointer(samples).copyMemory(from: memory, byteCount: 4 * count)
    case .int16:
      for i in 0..<count {
        samples[i] = Float(memory.loadUnaligned(fromByteOffset: 2 * i, as: Int16.self)) * 0x1p-15
      }
    case .int24:
      for i in 0..<count {
        let low = UInt32(memory.loadUnaligned(fromByteOffset: 3 * i, as: UInt16.self))
        let high = UInt32(memory.load(fromByteOffset: 3 * i + 2, as: UInt8.self))
        samples[i] = Float(Int32(bitPattern: high << 24 | low << 8)) * 0x1p-31
      }
    case .int24in32:
      for i in 0..<count {
        let word = memory.loadUnaligned(fromByteOffset: 4 * i, as: UInt32.self)
        samples[i] = Float(Int32(bitPattern: word << 8)) * 0x1p-31
      }
    case .int32:
      for i in 0..<count {
        samples[i] = Float(memory.loadUnaligned(fromByteOffset: 4 * i, as: Int32.self)) * 0x1p-31
      }
    }
  }
}
