// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text with percent-encoded bytes decoded (RFC 3986, section 2.1). Nil if an encoded byte is
  /// invalid or zero, or if the result is not UTF-8.
  var percentDecoded: String? {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy({ isHexadecimalDigit($0) }),
        let value = UInt8(String(Substring(digits)), radix: 16), value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// Whether a byte is a hexadecimal digit. `UInt8(_:radix:)` alone would also accept a sign.
private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
  default: false
  }
}
