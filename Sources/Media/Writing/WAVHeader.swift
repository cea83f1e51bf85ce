// SPDX-License-Identifier: Apache-2.0

package import Ambisonics

/// The bytes before the samples of a WAV file (Microsoft, "Multiple channel audio data and WAVE
/// files"). A file larger than 4 GiB becomes an RF64 file (EBU Tech 3306).
package struct WAVHeader {
  package enum Encoding: Sendable {
    case float32
    /// 24-bit signed integers.
    case pcm24
  }

  package let channels: Int
  package let sampleRate: Int
  package let layout: ChannelLayout
  package let encoding: Encoding

  package init(
    channels: Int, sampleRate: Int, layout: ChannelLayout, encoding: Encoding = .float32
  ) {
    self.channels = channels
    self.sampleRate = sampleRate
    self.layout = layout
    self.encoding = encoding
  }

  private static let pcm: UInt16 = 1
  private static let float: UInt16 = 3
  private static let extensible: UInt16 = 0xFFFE
  private static let ds64Length: UInt32 = 28
  /// The GUIDs KSDATAFORMAT_SUBTYPE_PCM and KSDATAFORMAT_SUBTYPE_IEEE_FLOAT without their first two
  /// bytes.
  private static let guidTail: [UInt8] = [
    0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71,
  ]

  /// Whether the format is WAVE_FORMAT_EXTENSIBLE. More than two channels need it, and so do
  /// integers of more than 16 bits.
  private var isExtensible: Bool { channels > 2 || encoding == .pcm24 }

  private var formatTag: UInt16 { encoding == .pcm24 ? Self.pcm : Self.float }
  private var bytesPerSample: Int { encoding == .pcm24 ? 3 : 4 }

  /// Returns the header of a file with `frames` frames. The header length does not depend on
  /// `frames`. The caller must write a byte of padding after an odd number of sample bytes.
  package func bytes(frames: Int64) -> [UInt8] {
    let bytesPerFrame = channels * bytesPerSample
    let dataLength = UInt64(frames) * UInt64(bytesPerFrame)
    var body = Fields()
    var format = Fields()
    format.add(isExtensible ? Self.extensible : formatTag)
    format.add(UInt16(channels))
    format.add(UInt32(sampleRate))
    format.add(UInt32(truncatingIfNeeded: sampleRate * bytesPerFrame))
    format.add(UInt16(bytesPerFrame))
    format.add(UInt16(8 * bytesPerSample))
    format.add(UInt16(isExtensible ? 22 : 0))
    if isExtensible {
      format.add(UInt16(8 * bytesPerSample))
      format.add(channelMask)
      format.add(formatTag)
      format.bytes += Self.guidTail
    }
    body.add("fmt ")
    body.add(UInt32(format.bytes.count))
    body.bytes += format.bytes
    body.add("fact")
    body.add(UInt32(4))
    body.add(UInt32(clamping: frames))
    body.add("data")

    let riffLength =
      4 + 8 + UInt64(Self.ds64Length) + UInt64(body.bytes.count) + 4 + dataLength + dataLength % 2
    let isLarge = riffLength >= UInt64(UInt32.max)
    var header = Fields()
    header.add(isLarge ? "RF64" : "RIFF")
    header.add(isLarge ? UInt32.max : UInt32(riffLength))
    header.add("WAVE")
    header.add(isLarge ? "ds64" : "JUNK")
    header.add(Self.ds64Length)
    header.add(isLarge ? riffLength : 0)
    header.add(isLarge ? dataLength : 0)
    header.add(isLarge ? UInt64(frames) : 0)
    header.add(UInt32(0))
    body.add(isLarge ? UInt32.max : UInt32(dataLength))
    return header.bytes + body.bytes
  }

  private var channelMask: UInt32 { layout.waveMask ?? 0 }
}

extension ChannelLayout {
  /// The loudspeaker mask `dwChannelMask` of WAVE_FORMAT_EXTENSIBLE; nil unless every channel is a
  /// loudspeaker with a bit in the mask and the channels are in the order of the bits.
  package var waveMask: UInt32? {
    guard case .speakers(let speakers) = self else { return nil }
    let bits = speakers.compactMap(\.waveMask)
    guard bits.count == speakers.count, zip(bits, bits.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return nil
    }
    return bits.reduce(0, |)
  }
}

/// A sequence of little-endian fields.
private struct Fields {
  var bytes: [UInt8] = []

  mutating func add(_ text: String) { bytes += Array(text.utf8) }

  mutating func add(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
  }
}
