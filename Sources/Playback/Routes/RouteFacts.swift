// SPDX-License-Identifier: Apache-2.0

public import PulseAudio
internal import Rendering
internal import SoundSources

/// The kind of device at the end of a route, as far as it can be known.
public enum RouteDevice: String, Sendable, CaseIterable {
  case headphones
  case loudspeakers
  case unknown
}

/// The property that showed the kind of a device.
public enum RouteEvidence: String, Sendable, CaseIterable {
  case portType = "port type"
  case portName = "port name"
  case formFactor = "form factor"
  case bluetoothProfile = "bluetooth profile"
  case iconName = "icon name"
  case nothing
}

/// What a sound server reports about a sink that shows the kind of its device.
public struct RouteFacts: Sendable, Equatable {
  /// The server's name of the sink.
  public var sink: String
  /// The description of the sink, for people.
  public var description = ""
  /// The server's name of the active port; nil if the sink has no port.
  public var port: String?
  /// The description of the active port, for people.
  public var portDescription: String?
  public var portType: Sink.PortType?
  /// The property `device.form_factor`.
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

  /// The name for people, such as "Built-in Audio: Speakers".
  public var name: String {
    let sinkName = description.isEmpty ? sink : description
    return portDescription.map { "\(sinkName): \($0)" } ?? sinkName
  }

  /// The kind of device, and the evidence for it. What is closest to the ears counts first: the
  /// active port, then the device, then hints at it.
  public var device: (kind: RouteDevice, evidence: RouteEvidence) {
    if let kind = portType.flatMap(Self.device(of:)) { return (kind, .portType) }
    if let kind = port.flatMap(Self.device(named:)) { return (kind, .portName) }
    if let kind = formFactor.flatMap({ device(form: $0) }) { return (kind, .formFactor) }
    // The form factor has already identified car and conference loudspeakers.
    if let profile = bluetoothProfile, profile.hasPrefix("headset") {
      return (.headphones, .bluetoothProfile)
    }
    if let kind = iconName.flatMap(Self.device(named:)) { return (kind, .iconName) }
    return (.unknown, .nothing)
  }

  private static func device(of type: Sink.PortType) -> RouteDevice? {
    switch type {
    case .headphones, .headset: .headphones
    case .speaker, .hdmi, .television, .car, .handsFree: .loudspeakers
    case .line, .spdif, .bluetooth, .usb, .network, .other: nil
    }
  }

  /// Recognises PulseAudio's names of ports and icons.
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
