// SPDX-License-Identifier: Apache-2.0

/// The packets with fixed contents that the host sends in Apple's accessory protocol (AAP).
enum AAPPacket {
  /// The first packet on a new link.
  static let handshake: [UInt8] = [0, 0, 4, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  /// Announces the features that the host supports.
  static let features: [UInt8] = [4, 0, 4, 0, 0x4D, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0]
  /// Asks for all notifications.
  static let notifications: [UInt8] = [4, 0, 4, 0, 0x0F, 0, 0xFF, 0xFF, 0xFF, 0xFF]
  /// Makes this computer the active host instead of another host, such as a phone.
  static let takeOver: [UInt8] = [4, 0, 4, 0, 9, 0, 6, 1, 0, 0, 0]
}

/// A notification from the earphones that does not contain sensor data.
enum AAPNotification: Equatable {
  /// Where the primary and the secondary bud are.
  case ears(primary: BudPlace, secondary: BudPlace)
  /// The remaining charge of each part that is present (`left`, `right`, `case` or `headset`), in
  /// percent, and the leading bud (`left` or `right`; nil if neither is present).
  case battery([String: Int], leading: String?)
  /// The texts of the device information: name, model number, manufacturer, serial number,
  /// firmware version and others.
  case information([String])
  /// The stem was pressed.
  case stem

  enum BudPlace: UInt8 {
    case inEar = 0
    case out = 1
    case inCase = 2
  }

  init?(_ packet: [UInt8]) {
    guard packet.count > 6, packet.starts(with: [4, 0, 4, 0]), packet[5] == 0 else { return nil }
    let payload = packet[6...]
    switch packet[4] {
    case 0x04: self = Self.battery(payload)
    case 0x06:
      guard payload.count >= 2, let primary = BudPlace(rawValue: payload[6]),
        let secondary = BudPlace(rawValue: payload[7])
      else { return nil }
      self = .ears(primary: primary, secondary: secondary)
    case 0x19: self = .stem
    case 0x1D: self = .information(Self.texts(payload))
    default: return nil
    }
  }

  /// Parses the charge of each part that is present. The payload consists of the number of parts
  /// and five bytes for each part: its ID, 1, the charge, the status (1 charging, 2 not charging, 4
  /// absent) and 1. The leading bud comes before the other bud.
  private static func battery(_ payload: ArraySlice<UInt8>) -> Self {
    let names: [UInt8: String] = [1: "headset", 2: "right", 4: "left", 8: "case"]
    var (levels, leading): ([String: Int], String?) = ([:], nil)
    var rest = payload.dropFirst()
    for _ in 0..<min(8, Int(payload.first ?? 0)) where rest.count >= 5 {
      let part = Array(rest.prefix(5))
      rest = rest.dropFirst(5)
      guard part[3] != 4, part[2] <= 100, let name = names[part[0]] else { continue }
      levels[name] = Int(part[2])
      if leading == nil, name == "left" || name == "right" { leading = name }
    }
    return .battery(levels, leading: leading)
  }

  /// Returns the NUL-separated texts in the first 1024 bytes. A text has two or more printable
  /// ASCII characters and may follow unprintable bytes.
  private static func texts(_ payload: ArraySlice<UInt8>) -> [String] {
    payload.prefix(1024).split(separator: 0).compactMap { bytes in
      let printable = bytes.drop { !(0x20..<0x7F).contains($0) }
      guard printable.count > 1, printable.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
        return nil
      }
      return String(decoding: printable, as: UTF8.self)
    }
  }
}
