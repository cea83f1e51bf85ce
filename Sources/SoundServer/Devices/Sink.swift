// SPDX-License-Identifier: Apache-2.0

/// An output of the sound server, as the server describes it.
public struct Sink: Sendable, Equatable {
  public typealias State = DeviceState
  public typealias Port = DevicePort
  public typealias PortType = DevicePort.Kind

  /// The server's name for the sink.
  public package(set) var name = ""
  /// The human-readable name of the sink.
  public package(set) var description = ""
  /// The sink's sample rate [Hz].
  public package(set) var sampleRate = 0
  public package(set) var channelCount = 0
  public package(set) var state = State.unknown
  /// The human-readable name of the active port; nil if no port is active.
  public package(set) var portDescription: String?
  public package(set) var portType: PortType?
  /// The server's name for the active port; nil if no port is active.
  public var portName: String? { ports.first(where: \.isActive)?.name }
  /// The device's form factor, such as "headphone" or "internal"; nil if unknown.
  public package(set) var formFactor: String?
  /// The ports, in the server's order.
  public package(set) var ports: [Port] = []
  /// The profile of a Bluetooth device, such as "a2dp_sink"; nil if the server reports none.
  public package(set) var bluetoothProfile: String?
  /// The address of a Bluetooth device, such as `AA:BB:CC:DD:EE:FF`; nil if the server reports
  /// none.
  public package(set) var bluetoothAddress: String?
  /// The name of the device's icon, such as "audio-card-pci"; nil if unknown.
  public package(set) var iconName: String?
  public package(set) var isDefault = false

  package init() {}
}

extension Sink: DeviceDescription {
  package static let portKinds: Set<PortType> = [
    .headphones, .headset, .speaker, .line, .hdmi, .spdif, .bluetooth, .usb, .television, .car,
    .network, .handsFree,
  ]

  /// Returns whether both sinks have the same name, description, ports, form factor, Bluetooth
  /// profile and icon. Returns false for nil.
  package func leadsWhere(_ other: Sink?) -> Bool {
    guard let other else { return false }
    return name == other.name && ports == other.ports && formFactor == other.formFactor
      && bluetoothProfile == other.bluetoothProfile && iconName == other.iconName
      && description == other.description
  }
}
