// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// A sound card or a Bluetooth device, whose routes are the ports of its sinks.
final class Device: BoundObject {
  /// A route of the card, with the numbers of the card's devices that can use it.
  private struct Route {
    var index: Int32
    var port: Sink.Port
    var devices: [Int32]
  }

  private var routes: [UInt32: Route] = [:]
  /// The indexes of the active routes, by the number of the card's device.
  private var active: [Int32: Int32] = [:]

  override init(
    _ proxy: UnsafeMutableRawPointer?, _ library: PipeWireLibrary, ask: @escaping () -> Void,
    tell: @escaping () -> Void
  ) {
    super.init(proxy, library, ask: ask, tell: tell)
    guard let proxy else { return }
    var events = pw_device_events()
    events.version = UInt32(PW_VERSION_DEVICE_EVENTS)
    events.info = { this, info in
      Device.with(this) { device in info.map { device.take($0.pointee) } }
    }
    events.param = { this, _, id, index, _, pod in Device.with(this) { $0.take(id, index, pod) } }
    let listener = Listener(events)
    hold(listener)
    pipewire_listen_device(proxy, listener.hook, listener.events, userdata)
  }

  /// Returns the ports of one of the card's devices, or of all its devices if the number is nil.
  func ports(ofDevice number: Int32?) -> [Sink.Port] {
    routes.sorted { $0.key < $1.key }.map(\.value).compactMap { route in
      if let number, !route.devices.contains(number) { return nil }
      var port = route.port
      port.isActive =
        number.map { active[$0] == route.index } ?? active.values.contains(route.index)
      return port
    }
  }

  private func take(_ info: pw_device_info) {
    take(info.props)
    let wanted = [SPA_PARAM_EnumRoute.rawValue, SPA_PARAM_Route.rawValue]
    update(info.params, count: info.n_params, wanted: wanted) { id in
      if id == SPA_PARAM_EnumRoute.rawValue { routes = [:] } else { active = [:] }
      pipewire_enum_device(proxy, 0, id)
    }
    tell()
  }

  func take(_ id: UInt32, _ index: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    var read = pipewire_route()
    guard let pod, pipewire_read_route(pod, &read), read.direction == SPA_DIRECTION_OUTPUT.rawValue
    else { return }
    if id == SPA_PARAM_Route.rawValue {
      active[read.device] = read.index
    } else {
      let devices = UnsafeBufferPointer(start: read.devices, count: Int(read.device_count))
      routes[index] = Route(index: read.index, port: Sink.Port(read), devices: Array(devices))
    }
    tell()
  }
}

extension Sink.Port {
  init(_ route: pipewire_route) {
    self.init()
    name = route.name.map { String(cString: $0) } ?? ""
    description = route.description.map { String(cString: $0) } ?? name
    type = Sink.PortType(pipeWire: route.type.map { String(cString: $0) } ?? "")
    switch spa_param_availability(route.available) {
    case SPA_PARAM_AVAILABILITY_yes: isAvailable = true
    case SPA_PARAM_AVAILABILITY_no: isAvailable = false
    default: isAvailable = nil
    }
  }
}

extension Sink.PortType {
  /// Converts a value of `port.type`. An unknown value becomes `other`.
  init(pipeWire name: String) {
    switch name {
    case "headphones", "earpiece": self = .headphones
    case "headset", "handset", "phone": self = .headset
    case "hands-free", "handsfree": self = .handsFree
    case "speaker", "portable", "hifi": self = .speaker
    case "line", "aux", "analog": self = .line
    case "hdmi": self = .hdmi
    case "spdif": self = .spdif
    case "bluetooth": self = .bluetooth
    case "usb": self = .usb
    case "tv", "video": self = .television
    case "car": self = .car
    case "network": self = .network
    default: self = .other
    }
  }
}
