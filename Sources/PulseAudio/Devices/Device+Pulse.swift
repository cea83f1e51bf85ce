// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer

/// The fields that `pa_sink_info` and `pa_source_info` have in common.
// swift-format-ignore: AlwaysUseLowerCamelCase
private protocol DeviceInfo {
  associatedtype Port: PortInfo
  var name: UnsafePointer<CChar>! { get }
  var description: UnsafePointer<CChar>! { get }
  var sample_spec: pa_sample_spec { get }
  var proplist: OpaquePointer! { get }
  var n_ports: UInt32 { get }
  var ports: UnsafeMutablePointer<UnsafeMutablePointer<Port>?>! { get }
  var active_port: UnsafeMutablePointer<Port>! { get }
}

private protocol PortInfo {
  var name: UnsafePointer<CChar>! { get }
  var description: UnsafePointer<CChar>! { get }
  var available: Int32 { get }
  var type: UInt32 { get }
}

extension pa_sink_info: DeviceInfo {}
extension pa_source_info: DeviceInfo {}
extension pa_sink_port_info: PortInfo {}
extension pa_source_port_info: PortInfo {}

extension DeviceInfo {
  func property(_ keys: String...) -> String? {
    for key in keys {
      if let value = pa_proplist_gets(proplist, key) { return String(cString: value) }
    }
    return nil
  }
}

extension PulseDevice {
  fileprivate init(describedBy info: some DeviceInfo) {
    self.init()
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    sampleRate = Int(info.sample_spec.rate)
    ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map {
        DevicePort($0.pointee, of: Self.self, isActive: $0 == info.active_port)
      }
    }
    formFactor = info.property(PA_PROP_DEVICE_FORM_FACTOR)
    // PulseAudio and PipeWire use different names for this property.
    bluetoothProfile = info.property("bluetooth.protocol", "api.bluez5.profile")
  }
}

extension Sink: PulseDevice {
  static var subscription: pa_subscription_mask_t { PA_SUBSCRIPTION_MASK_SINK }

  init(_ info: pa_sink_info) {
    self.init(describedBy: info)
    channelCount = Int(info.sample_spec.channels)
    state =
      switch info.state {
      case PA_SINK_RUNNING: .running
      case PA_SINK_IDLE: .idle
      case PA_SINK_SUSPENDED: .suspended
      default: .unknown
      }
    let active = ports.first(where: \.isActive)
    (portDescription, portType) = (active?.description, active?.type)
    if bluetoothProfile != nil {
      bluetoothAddress = info.property("api.bluez5.address", PA_PROP_DEVICE_STRING)
    }
    iconName = info.property(PA_PROP_DEVICE_ICON_NAME)
  }

  static func request(for list: DeviceList<Sink>, from context: OpaquePointer) {
    release(
      pa_context_get_sink_info_list(
        context,
        { _, info, end, list in
          DeviceList<Sink>.with(list) {
            if end == 0, let info { $0.take(Sink(info.pointee)) } else { $0.end() }
          }
        }, list.userdata))
  }

  static func defaultName(on connection: Connection) -> String { connection.defaults.sink }
}

extension Source: PulseDevice {
  static var subscription: pa_subscription_mask_t { PA_SUBSCRIPTION_MASK_SOURCE }

  init(_ info: pa_source_info) {
    self.init(describedBy: info)
    encoding = SampleEncoding(info.sample_spec.format)
    channelMap = channelNames(info.channel_map)
    state =
      switch info.state {
      case PA_SOURCE_RUNNING: .running
      case PA_SOURCE_IDLE: .idle
      case PA_SOURCE_SUSPENDED: .suspended
      default: .unknown
      }
    bluetoothCodec = info.property("bluetooth.codec", "api.bluez5.codec")
    if info.monitor_of_sink != .max {
      monitoredSink = info.monitor_of_sink_name.map { String(cString: $0) } ?? ""
    }
  }

  static func request(for list: DeviceList<Source>, from context: OpaquePointer) {
    release(
      pa_context_get_source_info_list(
        context,
        { _, info, end, list in
          DeviceList<Source>.with(list) {
            if end == 0, let info { $0.take(Source(info.pointee)) } else { $0.end() }
          }
        }, list.userdata))
  }

  static func defaultName(on connection: Connection) -> String { connection.defaults.source }
}

extension DevicePort {
  fileprivate init(_ info: some PortInfo, of device: (some PulseDevice).Type, isActive: Bool) {
    self.init()
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    let kind = Kind(info.type)
    type = device.portKinds.contains(kind) ? kind : .other
    self.isActive = isActive
    switch pa_port_available_t(UInt32(info.available)) {
    case PA_PORT_AVAILABLE_YES: isAvailable = true
    case PA_PORT_AVAILABLE_NO: isAvailable = false
    default: isAvailable = nil
    }
  }
}

extension DevicePort.Kind {
  init(_ type: UInt32) {
    switch pa_device_port_type_t(type) {
    case PA_DEVICE_PORT_TYPE_HEADPHONES, PA_DEVICE_PORT_TYPE_EARPIECE: self = .headphones
    case PA_DEVICE_PORT_TYPE_MIC: self = .microphone
    case PA_DEVICE_PORT_TYPE_HEADSET, PA_DEVICE_PORT_TYPE_HANDSET: self = .headset
    case PA_DEVICE_PORT_TYPE_HANDSFREE: self = .handsFree
    case PA_DEVICE_PORT_TYPE_SPEAKER, PA_DEVICE_PORT_TYPE_PORTABLE, PA_DEVICE_PORT_TYPE_HIFI:
      self = .speaker
    case PA_DEVICE_PORT_TYPE_LINE, PA_DEVICE_PORT_TYPE_AUX, PA_DEVICE_PORT_TYPE_ANALOG:
      self = .line
    case PA_DEVICE_PORT_TYPE_HDMI: self = .hdmi
    case PA_DEVICE_PORT_TYPE_SPDIF: self = .spdif
    case PA_DEVICE_PORT_TYPE_BLUETOOTH: self = .bluetooth
    case PA_DEVICE_PORT_TYPE_USB: self = .usb
    case PA_DEVICE_PORT_TYPE_TV, PA_DEVICE_PORT_TYPE_VIDEO: self = .television
    case PA_DEVICE_PORT_TYPE_CAR: self = .car
    case PA_DEVICE_PORT_TYPE_NETWORK: self = .network
    default: self = .other
    }
  }
}
