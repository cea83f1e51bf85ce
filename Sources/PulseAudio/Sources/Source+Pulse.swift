// SPDX-License-Identifier: Apache-2.0

import CPulse

extension Source {
  init(_ info: pa_source_info) {
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    sampleRate = Int(info.sample_spec.rate)
    encoding = SampleEncoding(info.sample_spec.format)
    channelMap = channelNames(info.channel_map)
    state = State(info.state)
    ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map { Port($0.pointee, isActive: $0 == info.active_port) }
    }
    func told(_ key: String) -> String? {
      pa_proplist_gets(info.proplist, key).map { String(cString: $0) }
    }
    formFactor = told(PA_PROP_DEVICE_FORM_FACTOR)
    // PulseAudio and PipeWire use different names for these properties.
    bluetoothProfile = told("bluetooth.protocol") ?? told("api.bluez5.profile")
    bluetoothCodec = told("bluetooth.codec") ?? told("api.bluez5.codec")
    if info.monitor_of_sink != .max {
      monitoredSink = info.monitor_of_sink_name.map { String(cString: $0) } ?? ""
    }
  }
}

/// Returns the server's names for the channels of a map.
func channelNames(_ map: pa_channel_map) -> [String] {
  withUnsafeBytes(of: map.map) { bytes in
    bytes.bindMemory(to: pa_channel_position_t.self).prefix(Int(map.channels)).map {
      pa_channel_position_to_string($0).map { String(cString: $0) } ?? "invalid"
    }
  }
}

extension Source.Port {
  init(_ info: pa_source_port_info, isActive: Bool) {
    name = String(cString: info.name)
    description = info.description.map { String(cString: $0) } ?? name
    type = Source.PortType(info.type)
    self.isActive = isActive
    switch pa_port_available_t(UInt32(info.available)) {
    case PA_PORT_AVAILABLE_YES: isAvailable = true
    case PA_PORT_AVAILABLE_NO: isAvailable = false
    default: isAvailable = nil
    }
  }
}

extension Source.State {
  init(_ state: pa_source_state_t) {
    switch state {
    case PA_SOURCE_RUNNING: self = .running
    case PA_SOURCE_IDLE: self = .idle
    case PA_SOURCE_SUSPENDED: self = .suspended
    default: self = .unknown
    }
  }
}

extension Source.PortType {
  init(_ type: UInt32) {
    switch pa_device_port_type_t(type) {
    case PA_DEVICE_PORT_TYPE_MIC: self = .microphone
    case PA_DEVICE_PORT_TYPE_HEADSET, PA_DEVICE_PORT_TYPE_HANDSET: self = .headset
    case PA_DEVICE_PORT_TYPE_HANDSFREE: self = .handsFree
    case PA_DEVICE_PORT_TYPE_LINE, PA_DEVICE_PORT_TYPE_AUX, PA_DEVICE_PORT_TYPE_ANALOG:
      self = .line
    case PA_DEVICE_PORT_TYPE_HDMI: self = .hdmi
    case PA_DEVICE_PORT_TYPE_SPDIF: self = .spdif
    case PA_DEVICE_PORT_TYPE_BLUETOOTH: self = .bluetooth
    case PA_DEVICE_PORT_TYPE_USB: self = .usb
    case PA_DEVICE_PORT_TYPE_NETWORK: self = .network
    default: self = .other
    }
  }
}

extension SampleEncoding {
  init(_ format: pa_sample_format_t) {
    switch format {
    case PA_SAMPLE_FLOAT32LE: self = .float32
    case PA_SAMPLE_S16LE: self = .int16
    case PA_SAMPLE_S24LE: self = .int24
    case PA_SAMPLE_S24_32LE: self = .int24in32
    case PA_SAMPLE_S32LE: self = .int32
    default: self = .other
    }
  }

  var pulseFormat: pa_sample_format_t {
    switch self {
    case .float32, .other: PA_SAMPLE_FLOAT32LE
    case .int16: PA_SAMPLE_S16LE
    case .int24: PA_SAMPLE_S24LE
    case .int24in32: PA_SAMPLE_S24_32LE
    case .int32: PA_SAMPLE_S32LE
    }
  }

  /// Converts `count` samples to float32 with full scale 1. All encodings convert exactly, except
  /// that int32 is rounded to the 24 bits of float32's mantissa.
  @_noLocks
  func convert(
    _ memory: UnsafeRawPointer, to samples: UnsafeMutablePointer<Float>, count: Int
  ) {
    switch self {
    case .float32, .other:
      UnsafeMutableRawPointer(samples).copyMemory(from: memory, byteCount: 4 * count)
    case .int16:
      for i in 0..<count {
        samples[i] = Float(memory.loadUnaligned(fromByteOffset: 2 * i, as: Int16.self)) * 0x1p-15
      }
    case .int24:
      for i in 0..<count {
        let low = UInt32(memory.loadUnaligned(fromByteOffset: 3 * i, as: UInt16.self))
        let high = UInt32(memory.load(fromByteOffset: 3 * i + 2, as: UInt8.self))
        samples[i] = Float(Int32(bitPattern: high << 24 | low << 8)) * 0x1p-31
      }
    case .int24in32:
      for i in 0..<count {
        let word = memory.loadUnaligned(fromByteOffset: 4 * i, as: UInt32.self)
        samples[i] = Float(Int32(bitPattern: word << 8)) * 0x1p-31
      }
    case .int32:
      for i in 0..<count {
        samples[i] = Float(memory.loadUnaligned(fromByteOffset: 4 * i, as: Int32.self)) * 0x1p-31
      }
    }
  }
}
