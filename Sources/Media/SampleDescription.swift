// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// The first entry of an `stsd` box of a sound track (ISO 14496-12, 12.2.3; QuickTime File
/// Format, "Sound sample descriptions").
struct SampleDescription {
  let ambisonicLayout: ChannelLayout?

  /// - Parameter payload: of the `stsd` box, from its version field on.
  init(_ payload: HeaderBytes) {
    guard let length = payload.big32(8), length >= 36,
      let entry = payload.slice(8, count: min(Int(length), payload.count - 8)),
      let version = entry.big16(16), let channels = Self.channels(entry, version: version)
    else {
      ambisonicLayout = nil
      return
    }
    // QuickTime's versions 1 and 2 have longer fixed parts; ISO files say 1 without having one.
    let starts = version == 2 ? [72] : version == 1 ? [52, 36] : [36]
    ambisonicLayout =
      starts.lazy.compactMap {
        Self.layout(in: entry, from: $0, channels: channels, depth: 0)
      }.first
  }

  private static func channels(_ entry: HeaderBytes, version: Int) -> Int? {
    version == 2 ? entry.big32(48).map { Int($0) } : entry.big16(24)
  }

  private static func layout(
    in bytes: HeaderBytes, from start: Int, channels: Int, depth: Int
  ) -> ChannelLayout? {
    var offset = start
    while let length = bytes.big32(offset).map({ Int($0) }), length >= 8,
      let type = bytes.code(offset + 4), let payload = bytes.slice(offset + 8, count: length - 8)
    {
      let found: ChannelLayout? =
        switch type {
        case "chan":
          payload.slice(4, count: payload.count - 4).flatMap {
            CoreAudioLayout.ambisonic($0, channels: channels)
          }
        case "SA3D": spatialAudio(payload, channels: channels)
        case "wave" where depth == 0:
          layout(in: payload, from: 0, channels: channels, depth: 1)
        default: nil
        }
      if let found { return found }
      offset += length
    }
    return nil
  }

  /// Version, head-locked bit and type 0 (periphonic), order, ordering 0 (ACN), normalisation 0
  /// (SN3D), number of channels and their map, of which only the identity is accepted.
  private static func spatialAudio(_ box: HeaderBytes, channels: Int) -> ChannelLayout? {
    guard box.big(0, bytes: 1) == 0, let type = box.big(1, bytes: 1), type & 0x7F == 0,
      let order = box.big32(2).map({ Int($0) }), (1...7).contains(order),
      box.big(6, bytes: 1) == 0, box.big(7, bytes: 1) == 0, box.big32(8) == UInt32(channels)
    else { return nil }
    let layout = ChannelLayout.ambisonics(
      order: order, convention: .ambiX, headLocked: type & 0x80 != 0)
    let isIdentity = (0..<channels).allSatisfy { box.big32(12 + 4 * $0) == UInt32($0) }
    return layout.channelCount == channels && isIdentity ? layout : nil
  }
}
