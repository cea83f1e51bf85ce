// SPDX-License-Identifier: Apache-2.0

public import PulseAudio
internal import Rendering
internal import SoundSources

/// What stands at the end of a route, as far as it can be known.
public enum RouteDevice: String, Sendable, CaseIterable {
  case headphones
  case loudspeakers
  case unknown
}

/// By what a listening device was known.
public enum RouteEvidence: String, Sendable, CaseIterable {
  case portType = "port type"
  case portName = "port name"
  case formFactor = "form factor"
  case bluetoothProfile = "bluetooth profile"
  case iconName = "icon name"
  case nothing
}

/// What a sound server tells of a sink that says what the listener hears it with.
public struct RouteFacts: Sendable, Equatable {
  /// The server's name of the sink.
  public var sink: String
  /// The sink for people.
  public var description = ""
  /// The active port by the server's name; nil: the sink has none.
  public var port: String?
  /// The active port for people.
  public var portDescription: String?
  public var portType: Sink.PortType?
  /// `device.form_factor`.
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

  /// "Built-in Audio: Speakers", for people.
  public var name: String {
    let sinkName = description.isEmpty ? sink : description
    return portDescription.map { "\(sinkName): \($0)" } ?? sinkName
  }

  /// What stands at the end, and by what that is known. The closest to the ears counts first: the
  /// active port, then the device, then what hints at it.
  public var device: (kind: RouteDevice, evidence: RouteEvidence) {
    if let kind = portType.flatMap(Self.device(of:)) { return (kind, .portType) }
    if let kind = port.flatMap(Self.device(named:)) { return (kind, .portName) }
    if let kind = formFactor.flatMap({ device(form: $0) }) { return (kind, .formFactor) }
    // A car's or a conference loudspeaker has told its form factor before.
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

  /// By PulseAudio's names of ports and icons.
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
    // Built in is the sound card; a socket of it leads elsewhere.
    case "internal": portType == .line || portType == .spdif ? nil : .loudspeakers
    default: nil
    }
  }
}
