// SPDX-License-Identifier: Apache-2.0

import Ambisonics

/// Parses the ambisonic layouts of Core Audio's `AudioChannelLayout` (Apple, QuickTime File Format,
/// "Channel layout atom"; CAF specification; constants from CoreAudioBaseTypes.h). libavformat
/// ignores these layouts.
enum CoreAudioLayout {
  private static let useDescriptions: UInt32 = 0
  private static let bFormat: UInt32 = 107
  private static let sn3d: UInt32 = 190
  private static let n3d: UInt32 = 191

  /// Parses an `AudioChannelLayout`.
  ///
  /// - Parameter payload: layout tag, bitmap and number of descriptions (4 bytes each), then 20
  ///   bytes for each description.
  /// - Returns: the layout; nil if it is incomplete, is not ambisonic of order 0 to 7, or does not
  ///   have `channels` channels.
  static func ambisonic(_ payload: HeaderBytes, channels: Int) -> ChannelLayout? {
    guard let tag = payload.big32(0) else { return nil }
    if tag == useDescriptions { return described(payload, channels: channels) }
    guard Int(tag & 0xFFFF) == channels, let order = order(channels) else { return nil }
    switch tag >> 16 {
    case sn3d: return .ambisonics(order: order, convention: .ambiX, headLocked: false)
    case n3d: return .ambisonics(order: order, convention: .n3d, headLocked: false)
    case bFormat where order == 1:
      return .ambisonics(order: 1, convention: .fuMa, headLocked: false)
    default: return nil
    }
  }

  private static func described(_ payload: HeaderBytes, channels: Int) -> ChannelLayout? {
    guard let count = payload.big32(8), Int(count) == channels,
      channels <= AudioTrack.maximumChannels
    else { return nil }
    let labels = (0..<channels).compactMap { payload.big32(12 + 20 * $0) }
    guard labels.count == channels else { return nil }
    if labels == [200, 201, 202, 203] {
      return .ambisonics(order: 1, convention: .fuMa, headLocked: false)
    }
    // Left and Right, or HeadphonesLeft and HeadphonesRight, may follow the soundfield.
    let headLocked = labels.suffix(2) == [1, 2] || labels.suffix(2) == [301, 302]
    let field = headLocked ? labels.dropLast(2) : labels[...]
    guard let order = order(field.count) else { return nil }
    for (prefix, convention) in [(UInt32(2), AmbisonicConvention.ambiX), (3, .n3d)]
    where field.enumerated().allSatisfy({ $1 == prefix << 16 | UInt32($0) }) {
      return .ambisonics(order: order, convention: convention, headLocked: headLocked)
    }
    return nil
  }

  /// Returns the order, 0 to 7, of a soundfield with `channels` channels; nil if there is none.
  static func order(_ channels: Int) -> Int? { (0...7).first { ($0 + 1) * ($0 + 1) == channels } }
}
