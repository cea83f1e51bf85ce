// SPDX-License-Identifier: Apache-2.0

internal import Rendering
public import SoundServer
internal import SoundSources

/// The kind of device at the end of a route, as far as it is known.
public enum RouteDevice: String, Sendable, CaseIterable {
  case headphones
  case loudspeakers
  case unknown
}

/// The property that identified the kind of a device.
public enum RouteEvidence: String, Sendable, CaseIterable {
  case portType = "port type"
  case portName = "port name"
  case formFactor = "form factor"
  case bluetoothProfile = "bluetooth profile"
  case iconName = "icon name"
  case nothing
}

/// The properties of a sink that indicate the kind of device.
public struct RouteFacts: Sendable, Equatable {
  /// The server's name for the sink.
  public var sink: String
  /// The human-readable description of the sink.
  public var description = ""
  /// The server's name for the active port; nil if no port is active.
  public var port: String?
  /// The human-readable description of the active port; nil if no port is active.
  public var portDescription: String?
  public var portType: Sink.PortType?
  /// The device's form factor; nil if unknown.
  public var formFactor: String?
  public var bluetoothProfile: String?
  public var iconName: String?

  public init(sink: String) { self.sink = sink }

  public init(_ sink: Sink) {
    self.sink = sink.name
    description = sink.description
    port = sink.portName
    portDescription = sink.portDescription
    portType = sink.portType
    formFactor = sink.formFactor
    bluetoothProfile = sink.bluetoothProfile
    iconName = sink.iconName
  }

  /// The human-readable name of the route, such as "Built-in Audio: Speakers".
  public var name: String {
    let sinkName = description.isEmpty ? sink : description
    return portDescription.map { "\(sinkName): \($0)" } ?? sinkName
  }

  /// The kind of device, and the evidence for it. The active port counts first, then the form
  /// factor, the Bluetooth profile and the icon.
  public var device: (kind: RouteDevice, evidence: RouteEvidence) {
    if let kind = portType.flatMap(Self.device(of:)) { return (kind, .portType) }
    if let kind = port.flatMap(Self.device(named:)) { return (kind, .portName) }
    if let kind = formFactor.flatMap({ device(form: $0) }) { return (kind, .formFactor) }
    // Car and conference loudspeakers also use these profiles, but their form factor, if known, has
    // already identified them. PulseAudio 15 and later call the hands-free profile of a headset
    // `handsfree_head_unit`.
    if let profile = bluetoothProfile,
      profile.hasPrefix("headset") || profile.hasPrefix("handsfree")
    {
      return (.headphones, .bluetoothProfile)
    }
    if let kind = iconName.flatMap(Self.device(named:)) { return (kind, .iconName) }
    return (.unknown, .nothing)
  }

  private static func device(of type: Sink.PortType) -> RouteDevice? {
    switch type {
    case .headphones, .headset: .headphones
    case .speaker, .hdmi, .television, .car, .handsFree: .loudspeakers
    case .microphone, .line, .spdif, .bluetooth, .usb, .network, .other: nil
    }
  }

  /// Returns the kind of device that a port name or icon name indicates; nil if the name indicates
  /// none.
  private static func device(named name: String) -> RouteDevice? {
    let name = name.lowercased()
    if name.contains("headphone") || name.contains("headset") { return .headphones }
    if name.contains("speaker") || name.contains("hdmi") || name.contains("video-display") {
      return .loudspeakers
    }
    return nil
  }

  private func device(form: String) -> RouteDevice? {
    switch form {
    case "headphone", "headset", "handset": .headphones
    case "speaker", "portable", "hifi", "tv", "car", "hands-free": .loudspeakers
    // "Internal" means the sound card. Its line and S/PDIF sockets lead to other devices.
    case "internal": portType == .line || portType == .spdif ? nil : .loudspeakers
    default: nil
    }
  }
}
