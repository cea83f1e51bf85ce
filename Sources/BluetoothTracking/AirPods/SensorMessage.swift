// SPDX-License-Identifier: Apache-2.0

/// An item in a frame of sensor data (opcode 0x17).
enum SensorItem: Equatable {
  case report(service: UInt64, ArraySlice<UInt8>)
  /// A service and its serialised properties (see `SensorDescription`).
  case description(service: UInt64, ArraySlice<UInt8>)
  /// The earphones have received the request to start or stop a service.
  case acknowledged(service: UInt64)
  /// The earphones report that a service can be started.
  case ready(service: UInt64)
}

/// Frames with opcode 0x17, in which AirPods tunnel the data of their HID sensors.
///
/// A frame has a header of 12 bytes (the packet header, the opcode, a descriptor and the length of
/// the body), then a protobuf message with these fields. A number before an equals sign is a field
/// of a nested message.
///
/// | field | content |
/// |---|---|
/// | 1 | sequence number |
/// | 3 | older form of a report: service (u16), then the report |
/// | 5 | description: 1 = service, 2 = properties; repeated |
/// | 7 | report: 1 = service, 3 = the report; repeated |
/// | 8 | request: 1 = service, 2 = the constant 2, 3 = report ID and value |
/// | 9 | acknowledgement: 1 = service |
/// | 12 | readiness: 1 = service |
enum SensorFrame {
  private static let headerLength = 12
  /// The constant beginning of a frame: packet header, opcode 0x17, and the descriptor of sensor
  /// data.
  private static let header: [UInt8] = [4, 0, 4, 0, 0x17, 0, 0, 0, 0x10, 0]
  /// The largest number of items taken from one packet, and of fields read from one message.
  private static let mostItems = 64

  /// Returns the items in a packet, oldest first; nil if the packet does not begin with a complete
  /// frame of sensor data.
  static func items(_ packet: [UInt8]) -> [SensorItem]? {
    var rest = packet[...]
    var items: [SensorItem]?
    while rest.starts(with: header), rest.count >= headerLength, (items?.count ?? 0) < mostItems {
      let at = rest.startIndex + header.count
      let length = Int(rest[at]) | Int(rest[at + 1]) << 8
      let body = rest.dropFirst(headerLength)
      guard length <= body.count else { break }
      items = (items ?? []) + self.items(in: body.prefix(length))
      rest = body.dropFirst(length)
    }
    return items.map { Array($0.prefix(mostItems)) }
  }

  private static func items(in body: ArraySlice<UInt8>) -> [SensorItem] {
    ProtobufFields(body).prefix(mostItems).compactMap { field in
      guard case .bytes(let bytes) = field.value else { return nil }
      if field.number == 3 {
        guard bytes.count > 2 else { return nil }
        let service = UInt64(bytes[bytes.startIndex]) | UInt64(bytes[bytes.startIndex + 1]) << 8
        return .report(service: service, bytes.dropFirst(2))
      }
      guard [5, 7, 9, 12].contains(field.number) else { return nil }
      let message = ProtobufFields(bytes).prefix(mostItems)
      guard let service = message.number(1) else { return nil }
      return switch field.number {
      case 5: message.bytes(2).map { .description(service: service, $0) }
      case 7: message.bytes(3).map { .report(service: service, $0) }
      case 9: .acknowledged(service: service)
      default: .ready(service: service)
      }
    }
  }

  /// Returns the request that makes a service report at this interval. An interval of 0 stops the
  /// service.
  static func request(
    service: UInt64, intervalMicroseconds microseconds: UInt32, sequence: UInt64
  ) -> [UInt8] {
    let value = (0..<4).map { UInt8(truncatingIfNeeded: microseconds >> (8 * $0)) }
    let setting: [UInt8] = [0x08] + varint(service) + [0x10, 2, 0x1A, 5, 1] + value
    let body: [UInt8] = [0x08] + varint(sequence) + [0x42, UInt8(setting.count)] + setting
    return header + [UInt8(body.count), 0] + body
  }
}
