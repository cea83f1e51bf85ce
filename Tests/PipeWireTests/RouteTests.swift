// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import SoundServer
import Testing

@testable import PipeWire

/// The ports that the routes of a card give. The routes are encoded as the server sends them (SPA
/// POD, little endian).
@Suite struct RouteTests {
  private static func bytes(_ numbers: UInt32...) -> [UInt8] {
    numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
  }

  /// Returns a value with its header, padded to 8 bytes.
  private static func pod(_ type: Int, _ body: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: -body.count & 7)
    return bytes(UInt32(body.count), UInt32(type)) + body + padding
  }

  private static func id(_ value: UInt32) -> [UInt8] { pod(SPA_TYPE_Id, bytes(value)) }
  private static func int(_ value: Int) -> [UInt8] {
    pod(SPA_TYPE_Int, bytes(UInt32(bitPattern: Int32(value))))
  }
  private static func text(_ value: String) -> [UInt8] { pod(SPA_TYPE_String, value.utf8 + [0]) }

  private static func route(
    _ index: Int, _ direction: spa_direction, name: String, type: String?,
    available: spa_param_availability, devices: [Int] = [], device: Int? = nil
  ) -> [UInt8] {
    var members: [(spa_param_route, [UInt8])] = [
      (SPA_PARAM_ROUTE_index, int(index)), (SPA_PARAM_ROUTE_direction, id(direction.rawValue)),
      (SPA_PARAM_ROUTE_name, text(name)), (SPA_PARAM_ROUTE_description, text("The \(name)")),
      (SPA_PARAM_ROUTE_available, id(available.rawValue)),
    ]
    if let device { members.append((SPA_PARAM_ROUTE_device, int(device))) }
    let info = int(type == nil ? 0 : 1) + (type.map { text("port.type") + text($0) } ?? [])
    members.append((SPA_PARAM_ROUTE_info, pod(SPA_TYPE_Struct, info)))
    let array =
      bytes(4, UInt32(SPA_TYPE_Int)) + devices.flatMap { bytes(UInt32($0)) }
    members.append((SPA_PARAM_ROUTE_devices, pod(SPA_TYPE_Array, array)))
    let body =
      bytes(UInt32(SPA_TYPE_OBJECT_ParamRoute), SPA_PARAM_EnumRoute.rawValue)
      + members.flatMap { bytes($0.0.rawValue, 0) + $0.1 }
    return pod(SPA_TYPE_Object, body)
  }

  private func device() throws -> Device {
    Device(nil, try PipeWireLibrary.load(), ask: {}, tell: {})
  }

  private func send(
    _ bytes: [UInt8], as parameter: spa_param_type, _ index: UInt32, to device: Device
  ) {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    device.take(parameter.rawValue, index, memory.assumingMemoryBound(to: spa_pod.self))
  }

  @Test func routesOfACardBecomePorts() throws {
    let device = try device()
    let routes = [
      Self.route(
        0, SPA_DIRECTION_INPUT, name: "mic", type: "mic",
        available: SPA_PARAM_AVAILABILITY_unknown, devices: [0]),
      Self.route(
        1, SPA_DIRECTION_OUTPUT, name: "analog-output-speaker", type: "speaker",
        available: SPA_PARAM_AVAILABILITY_unknown, devices: [2, 3]),
      Self.route(
        2, SPA_DIRECTION_OUTPUT, name: "analog-output-headphones", type: "headphones",
        available: SPA_PARAM_AVAILABILITY_no, devices: [3]),
      Self.route(
        3, SPA_DIRECTION_OUTPUT, name: "hdmi-output-0", type: "hdmi",
        available: SPA_PARAM_AVAILABILITY_yes, devices: [4]),
    ]
    for (index, route) in routes.enumerated() {
      send(route, as: SPA_PARAM_EnumRoute, UInt32(index), to: device)
    }
    #expect(device.ports(ofDevice: 3).map(\.isActive) == [false, false])
    func activate(_ index: Int, _ name: String) {
      let route = Self.route(
        index, SPA_DIRECTION_OUTPUT, name: name, type: nil,
        available: SPA_PARAM_AVAILABILITY_yes, device: 3)
      send(route, as: SPA_PARAM_Route, 0, to: device)
    }
    activate(1, "analog-output-speaker")
    let ports = device.ports(ofDevice: 3)
    #expect(ports.map(\.name) == ["analog-output-speaker", "analog-output-headphones"])
    #expect(ports.map(\.description) == ports.map { "The \($0.name)" })
    #expect(ports.map(\.type) == [.speaker, .headphones])
    #expect(ports.map(\.isAvailable) == [nil, false])
    #expect(ports.map(\.isActive) == [true, false])
    #expect(device.ports(ofDevice: 4).map(\.isActive) == [false])
    // Headphones are plugged in.
    activate(2, "analog-output-headphones")
    #expect(device.ports(ofDevice: 3).map(\.isActive) == [false, true])
    #expect(device.ports(ofDevice: nil).count == 3)
  }

  @Test func damagedRoutesAreIgnored() throws {
    let device = try device()
    let route = Self.route(
      1, SPA_DIRECTION_OUTPUT, name: "a", type: "usb", available: SPA_PARAM_AVAILABILITY_yes,
      devices: [1])
    var wrongType = route
    wrongType[4] = UInt8(SPA_TYPE_Struct)
    send(wrongType, as: SPA_PARAM_EnumRoute, 0, to: device)
    #expect(device.ports(ofDevice: 1).isEmpty)
    send(route, as: SPA_PARAM_EnumRoute, 0, to: device)
    #expect(device.ports(ofDevice: 1).map(\.type) == [.usb])
  }
}
