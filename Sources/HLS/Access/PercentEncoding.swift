// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text with percent-encoded bytes decoded (RFC 3986, section 2.1); nil if an encoding is
  /// invalid or NUL, or if the result is not UTF-8.
  var percentDecoded: String? {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2,
        value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
