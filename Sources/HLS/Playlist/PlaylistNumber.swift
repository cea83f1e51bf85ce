// SPDX-License-Identifier: Apache-2.0

/// Numbers as playlists write them (RFC 8216, section 4.2).
enum PlaylistNumber {
  /// Decimal digits, 0 to 2^63 - 1.
  static func integer(_ text: Substring) -> Int? {
    guard let first = text.utf8.first, (0x30...0x39).contains(first) else { return nil }
    return Int(text)
  }

  /// Digits and a point, signed or not; no exponent, nothing infinite.
  static func decimal(_ text: Substring) -> Double? {
    let isPlain = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B
    }
    guard isPlain, let number = Double(text), number.isFinite else { return nil }
    return number
  }

  /// 16 bytes of `0x...`, the most significant first; shorter ones are filled with zeros in front.
  static func initialisationVector(_ text: Substring) -> [UInt8]? {
    guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
    let digits = text.dropFirst(2)
    guard !digits.isEmpty, digits.utf8.count <= 32 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    for (place, digit) in digits.reversed().enumerated() {
      guard digit.isASCII, let value = digit.hexDigitValue else { return nil }
      bytes[15 - place / 2] |= UInt8(value) << (place % 2 == 0 ? 0 : 4)
    }
    return bytes
  }
}
