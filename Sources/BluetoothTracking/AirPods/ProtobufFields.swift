// SPDX-License-Identifier: Apache-2.0

/// The fields of a protobuf message (protobuf.dev, "Encoding").
///
/// The sequence ends at the first field that is malformed or a group (wire types 3 and 4).
struct ProtobufFields: Sequence, IteratorProtocol {
  struct Field: Equatable {
    var number: UInt64
    var value: Value
  }

  enum Value: Equatable {
    case varint(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A 32-bit or 64-bit value, which is skipped and not stored.
    case fixed
  }

  private var rest: ArraySlice<UInt8>

  init(_ message: ArraySlice<UInt8>) { rest = message }

  mutating func next() -> Field? {
    guard let key = varint(), key >> 3 > 0, let value = value(wireType: key & 7) else {
      rest = []
      return nil
    }
    return Field(number: key >> 3, value: value)
  }

  private mutating func value(wireType: UInt64) -> Value? {
    switch wireType {
    case 0: varint().map(Value.varint)
    case 1: take(8).map { _ in .fixed }
    case 2: varint().flatMap { take($0) }.map(Value.bytes)
    case 5: take(4).map { _ in .fixed }
    default: nil
    }
  }

  /// Reads a varint. Returns nil if it is incomplete or exceeds 64 bits.
  private mutating func varint() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      // Nine bytes contain 63 bits, so the tenth byte may add only one.
      guard shift < 63 || byte <= 1 else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }

  private mutating func take(_ count: UInt64) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}

extension Sequence<ProtobufFields.Field> {
  /// The number in the last varint field with this field number; nil if there is none.
  func number(_ field: UInt64) -> UInt64? {
    reduce(nil) { found, next in
      if next.number == field, case .varint(let number) = next.value { number } else { found }
    }
  }

  /// The content of the last `bytes` field (wire type 2) with this field number; nil if there is
  /// none.
  func bytes(_ field: UInt64) -> ArraySlice<UInt8>? {
    reduce(nil) { found, next in
      if next.number == field, case .bytes(let bytes) = next.value { bytes } else { found }
    }
  }
}

/// Returns a number in the varint encoding of protobuf.
func varint(_ number: UInt64) -> [UInt8] {
  var (bytes, rest) = ([UInt8](), number)
  while rest >= 0x80 {
    bytes.append(UInt8(rest & 0x7F) | 0x80)
    rest >>= 7
  }
  return bytes + [UInt8(rest)]
}
