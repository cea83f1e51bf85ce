// SPDX-License-Identifier: Apache-2.0

/// The bytes of QuickTime boxes. Integers are big-endian.
struct BoxBytes {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func put(_ data: [UInt8]) { bytes.append(contentsOf: data) }

  mutating func zeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

  /// Adds a box that contains what `content` adds.
  mutating func box(_ type: String, _ content: (inout BoxBytes) -> Void) {
    let start = bytes.count
    zeros(4)
    put(type)
    content(&self)
    let length = UInt32(bytes.count - start)
    withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
  }

  /// Adds a box that contains a version, flags and what `content` adds.
  mutating func box(
    _ type: String, version: UInt32 = 0, flags: UInt32, _ content: (inout BoxBytes) -> Void
  ) {
    box(type) { box in
      box.put(version << 24 | flags)
      content(&box)
    }
  }

  /// Returns the bytes that `content` adds.
  static func of(_ content: (inout BoxBytes) -> Void) -> [UInt8] {
    var result = BoxBytes()
    content(&result)
    return result.bytes
  }
}
