// SPDX-License-Identifier: Apache-2.0

extension RecordingSegment {
  /// Returns the samples as little-endian bytes.
  func bytes(_ codec: RecordingFormat.Codec) -> [UInt8] {
    switch codec {
    case .float: return Array(UnsafeRawBufferPointer(samples))
    case .pcm24:
      return [UInt8](unsafeUninitializedCapacity: samples.count * 3) { bytes, count in
        for (index, sample) in samples.enumerated() {
          let value = Int32(sample * 0x1p23)
          bytes[3 * index] = UInt8(truncatingIfNeeded: value)
          bytes[3 * index + 1] = UInt8(truncatingIfNeeded: value >> 8)
          bytes[3 * index + 2] = UInt8(truncatingIfNeeded: value >> 16)
        }
        count = samples.count * 3
      }
    }
  }
}
