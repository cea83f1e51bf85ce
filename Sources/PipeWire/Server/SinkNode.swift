// SPDX-License-Identifier: Apache-2.0

import CPipeWire
internal import SoundServer

/// A node with the media class `Audio/Sink` or `Audio/Duplex`.
final class SinkNode: BoundObject {
  private var state = Sink.State.unknown
  /// The number of times that the node changed from running to suspended.
  private(set) var interruptions = 0
  private var format: (rate: Int32, channels: Int32) = (0, 0)
  private var formats: (rate: Int32, channels: Int32) = (0, 0)

  override init(
    _ proxy: UnsafeMutableRawPointer?, _ library: PipeWireLibrary, ask: @escaping () -> Void,
    tell: @escaping () -> Void
  ) {
    super.init(proxy, library, ask: ask, tell: tell)
    guard let proxy else { return }
    var events = pw_node_events()
    events.version = UInt32(PW_VERSION_NODE_EVENTS)
    events.info = { this, info in
      SinkNode.with(this) { node in info.map { node.take($0.pointee) } }
    }
    events.param = { this, _, id, _, _, pod in SinkNode.with(this) { $0.take(id, pod) } }
    let listener = Listener(events)
    hold(listener)
    pipewire_listen_node(proxy, listener.hook, listener.events, userdata)
  }

  var deviceID: UInt32? { properties[PW_KEY_DEVICE_ID].flatMap { UInt32($0) } }

  private func take(_ info: pw_node_info) {
    let newState = Sink.State(info.state)
    if state == .running, newState == .suspended { interruptions += 1 }
    state = newState
    take(info.props)
    let wanted = [SPA_PARAM_Format.rawValue, SPA_PARAM_EnumFormat.rawValue]
    update(info.params, count: info.n_params, wanted: wanted) { id in
      if id == SPA_PARAM_Format.rawValue { format = (0, 0) }
      pipewire_enum_node(proxy, 0, id)
    }
    tell()
  }

  private func take(_ id: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    var read: (rate: Int32, channels: Int32) = (0, 0)
    pipewire_read_format(pod, &read.rate, &read.channels)
    if id == SPA_PARAM_Format.rawValue { format = read }
    if id == SPA_PARAM_EnumFormat.rawValue, formats.rate == 0 { formats = read }
    tell()
  }

  /// Returns the sink's description, with the ports of its device.
  func sink(on device: Device?, defaultRate: Int) -> Sink {
    func told(_ keys: String...) -> String? {
      for key in keys {
        if let value = properties[key] ?? device?.properties[key] { return value }
      }
      return nil
    }
    var sink = Sink()
    sink.name = properties[PW_KEY_NODE_NAME] ?? ""
    sink.description = properties[PW_KEY_NODE_DESCRIPTION] ?? sink.name
    sink.sampleRate =
      [format.rate, formats.rate].first { $0 > 0 }.map { Int($0) }
      ?? properties["audio.rate"].flatMap { Int($0) } ?? defaultRate
    sink.channelCount =
      [format.channels, formats.channels].first { $0 > 0 }.map { Int($0) }
      ?? properties["audio.channels"].flatMap { Int($0) } ?? 0
    sink.state = state
    if let device {
      let place = properties["card.profile.device"].flatMap { Int32($0) }
      sink.ports = device.ports(ofDevice: place)
      let active = sink.ports.first(where: \.isActive)
      (sink.portDescription, sink.portType) = (active?.description, active?.type)
    }
    sink.formFactor = told("device.form-factor", "device.form_factor")
    sink.bluetoothProfile = told("bluetooth.protocol", "api.bluez5.profile")
    if sink.bluetoothProfile != nil {
      sink.bluetoothAddress = told("api.bluez5.address", "device.string")
    }
    sink.iconName = told("device.icon-name", "device.icon_name")
    return sink
  }
}

extension Sink.State {
  init(_ state: pw_node_state) {
    switch state {
    case PW_NODE_STATE_RUNNING: self = .running
    case PW_NODE_STATE_IDLE: self = .idle
    case PW_NODE_STATE_SUSPENDED: self = .suspended
    default: self = .unknown
    }
  }
}
