// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Media

/// The kind of samples in a movie track, and their description in the `stsd` box.
enum MovieMedia {
  /// Stereo AAC. `header` is the AudioSpecificConfig. The sample rate is in Hz, and the bit
  /// rate is in bit/s.
  case aac(header: [UInt8], sampleRate: Int, bitRate: Int)
  case pcm(RecordingFormat)
  /// One JSON object per sample.
  case metadata

  /// The key that identifies the JSON objects in the metadata track.
  static let metadataKey = "org.stillstage.spatial-audio"

  var isSound: Bool { if case .metadata = self { false } else { true } }

  /// The size of every sample in bytes; 0 if the sizes differ.
  var sampleSize: Int { if case .pcm(let format) = self { format.bytesPerFrame } else { 0 } }

  func writeDescription(to boxes: inout BoxBytes) {
    switch self {
    case .aac(let header, let sampleRate, let bitRate):
      boxes.writeAAC(header, sampleRate: sampleRate, bitRate: bitRate)
    case .pcm(let format): boxes.writePCM(format)
    case .metadata:
      boxes.box("mebx") { entry in
        entry.zeros(6)
        entry.put(UInt16(1))
        entry.box("keys") { keys in
          keys.box("\0\0\0\u{1}") { key in
            key.box("keyd") { $0.put("mdta" + Self.metadataKey) }
            // In namespace 0 (well-known types), type 1 is UTF-8 text.
            key.box("dtyp") { type in
              type.put(UInt32(0))
              type.put(UInt32(1))
            }
          }
        }
      }
    }
  }
}

extension BoxBytes {
  /// Adds the fields that all versions of a sound description share. `rate` is the sample rate in
  /// Hz, multiplied by 2^16; 0 if the product exceeds 32 bits. In version 2, `rate` is 2^16.
  private mutating func putSound(
    version: UInt16, channels: UInt16, compression: Int16, rate: UInt32
  ) {
    zeros(6)
    put(UInt16(1))
    put(version)
    zeros(6)
    put(channels)
    put(UInt16(16))
    put(compression)
    zeros(2)
    put(rate)
  }

  /// Adds a version 1 sound description for AAC with packets of 1024 frames.
  fileprivate mutating func writeAAC(_ header: [UInt8], sampleRate: Int, bitRate: Int) {
    box("mp4a") { entry in
      // The sample rate's integer part has only 16 bits, so a rate above 65,535 Hz is written as 0.
      // Decoders use the rate in the codec's header.
      let rate = sampleRate < 1 << 16 ? UInt32(sampleRate) << 16 : 0
      entry.putSound(version: 1, channels: 2, compression: -2, rate: rate)
      for value in [1024, 0, 0, 2] { entry.put(UInt32(value)) }
      entry.box("wave") { wave in
        wave.box("frma") { $0.put("mp4a") }
        wave.box("mp4a") { $0.zeros(4) }
        wave.box("esds", flags: 0) { $0.putElementaryStream(header, bitRate: bitRate) }
        wave.put(UInt32(8))
        wave.zeros(4)
      }
      entry.putLayout(tag: 101 << 16 | 2)
    }
  }

  /// Adds the descriptors of an AAC stream (ISO 14496-1, section 7.2.6).
  private mutating func putElementaryStream(_ header: [UInt8], bitRate: Int) {
    func descriptor(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      [tag, 0x80, 0x80, 0x80, UInt8(content.count)] + content
    }
    // The fields are the codec (0x40: MPEG-4 audio), the stream type (0x15: audio), the buffer
    // size, the maximum bit rate and the average bit rate.
    let configuration =
      BoxBytes.of { fields in
        fields.put([0x40, 0x15, 0, 0, 0])
        fields.put(UInt32(bitRate))
        fields.put(UInt32(bitRate))
      } + descriptor(5, header)
    put(descriptor(3, [0, 0, 0] + descriptor(4, configuration) + descriptor(6, [2])))
  }

  /// Adds a version 2 sound description for packed little-endian PCM.
  fileprivate mutating func writePCM(_ format: RecordingFormat) {
    box("lpcm") { entry in
      entry.putSound(version: 2, channels: 3, compression: -2, rate: 0x10000)
      entry.put(UInt32(72))
      entry.put(Double(format.sampleRate).bitPattern)
      entry.put(UInt32(format.channels))
      entry.put(UInt32(0x7F00_0000))
      entry.put(UInt32(format.codec == .pcm24 ? 24 : 32))
      // The flags are kAudioFormatFlagIsPacked (8), and IsSignedInteger (4) or IsFloat (1).
      entry.put(UInt32(format.codec == .pcm24 ? 0xC : 0x9))
      entry.put(UInt32(format.bytesPerFrame))
      entry.put(UInt32(1))
      let (tag, bitmap) = format.layout.coreAudioTag
      entry.putLayout(tag: tag, bitmap: bitmap)
    }
  }

  private mutating func putLayout(tag: UInt32, bitmap: UInt32 = 0) {
    box("chan", flags: 0) { layout in
      layout.put(tag)
      layout.put(bitmap)
      layout.zeros(4)
    }
  }
}

extension ChannelLayout {
  /// The tag and bitmap of Core Audio's `AudioChannelLayout` (CoreAudioBaseTypes.h). A layout
  /// that has neither a tag here nor a bitmap gets the tag `DiscreteInOrder`.
  fileprivate var coreAudioTag: (tag: UInt32, bitmap: UInt32) {
    let count = UInt32(channelCount)
    switch self {
    case .mono: return (100 << 16 | 1, 0)
    case .stereo: return (101 << 16 | 2, 0)
    case .ambisonics(_, .ambiX, headLocked: false): return (190 << 16 | count, 0)
    case .ambisonics(_, .n3d, headLocked: false): return (191 << 16 | count, 0)
    case .ambisonics(1, .fuMa, headLocked: false): return (107 << 16 | count, 0)
    case .speakers:
      if let bitmap = waveMask { return (1 << 16, bitmap) }
      return (147 << 16 | count, 0)
    case .ambisonics, .unknown: return (147 << 16 | count, 0)
    }
  }
}
