// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer

extension Sink {
  init(_ info: pa_sink_info) {
    self.init()
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    sampleRate = Int(info.sample_spec.rate)
    channelCount = Int(info.sample_spec.channels)
    state = State(info.state)
    if let port = info.active_port?.pointee {
      portDescription = String(cString: port.description)
      portType = PortType(port.type)
    }
    ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map { Port($0.pointee, isActive: $0 == info.active_port) }
    }
    func told(_ key: String) -> String? {
      pa_proplist_gets(info.proplist, key).map { String(cString: $0) }
    }
    formFactor = told(PA_PROP_DEVICE_FORM_FACTOR)
    // PulseAudio and PipeWire use different names for this property.
    bluetoothProfile = told("bluetooth.protocol") ?? told("api.bluez5.profile")
    if bluetoothProfile != nil {
      bluetoothAddress = told("api.bluez5.address") ?? told(PA_PROP_DEVICE_STRING)
    }
    iconName = told(PA_PROP_DEVICE_ICON_NAME)
  }
}

extension Sink.Port {
  init(_ info: pa_sink_port_info, isActive: Bool) {
    self.init()
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    type = Sink.PortType(info.type)
    self.isActive = isActive
    switch pa_port_available_t(UInt32(info.available)) {
    case PA_PORT_AVAILABLE_YES: isAvailable = true
    case PA_PORT_AVAILABLE_NO: isAvailable = false
    default: isAvailable = nil
    }
  }
}

extension Sink.State {
  init(_ state: pa_sink_state_t) {
    switch state {
    case PA_SINK_RUNNING: self = .running
    case PA_SINK_IDLE: self = .idle
    case PA_SINK_SUSPENDED: self = .suspended
    default: self = .unknown
    }
  }
}

extension Sink.PortType {
  init(_ type: UInt32) {
    switch pa_device_port_type_t(type) {
    case PA_DEVICE_PORT_TYPE_HEADPHONES, PA_DEVICE_PORT_TYPE_EARPIECE: self = .headphones
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
