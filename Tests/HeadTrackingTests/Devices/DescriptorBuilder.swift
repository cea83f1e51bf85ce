// SPDX-License-Identifier: Apache-2.0

/// Builds report descriptors item by item.
struct DescriptorBuilder {
  var bytes: [UInt8] = []

  /// Adds a short item of the given size, by default the smallest that fits the value.
  mutating func item(_ tag: UInt8, _ value: Int64, size: Int? = nil) {
    let smallest = (-128..<128).contains(value) ? 1 : (-32768..<32768).contains(value) ? 2 : 4
    let size = size ?? smallest
    bytes.append(tag | UInt8(size == 4 ? 3 : size))
    for byte in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> Int64(8 * byte))) }
  }

  mutating func page(_ value: Int64) { item(0x04, value) }
  mutating func usage(_ value: Int64, size: Int? = nil) {
    item(0x08, value, size: size ?? (value < 256 ? 1 : 2))
  }
  mutating func usageRange(_ low: Int64, _ high: Int64) {
    item(0x18, low)
    item(0x28, high)
  }
  mutating func logical(_ low: Int64, _ high: Int64) {
    item(0x14, low)
    item(0x24, high)
  }
  mutating func physical(_ low: Int64, _ high: Int64, exponent: Int64 = 0) {
    item(0x34, low)
    item(0x44, high)
    item(0x54, exponent & 15, size: 1)
  }
  mutating func shape(bits: Int64, count: Int64) {
    item(0x74, bits)
    item(0x94, count)
  }
  mutating func reportID(_ id: Int64) { item(0x84, id, size: 1) }
  mutating func collection(_ kind: Int64, _ body: (inout DescriptorBuilder) -> Void) {
    item(0xA0, kind)
    body(&self)
    bytes.append(0xC0)
  }
  mutating func input(_ flags: Int64) { item(0x80, flags) }
  mutating func feature(_ flags: Int64) { item(0xB0, flags) }
  mutating func push() { bytes.append(0xA4) }
  mutating func pop() { bytes.append(0xB4) }
}
