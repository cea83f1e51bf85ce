// SPDX-License-Identifier: Apache-2.0

/// A place to play to, as the server describes it.
public struct Sink: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    case running
    case idle
    case suspended
    case unknown
  }

  /// What the active port leads to.
  public enum PortType: String, Sendable, Equatable {
    case headphones
    case headset
    case speaker
    case line
    case hdmi
    case spdif
    case bluetooth
    case usb
    case television
    case car
    case network
    /// A telephone in the car, a conference loudspeaker.
    case handsFree
    case other
  }

  /// One of the places that a sink can lead to.
  public struct Port: Sendable, Equatable {
    /// The server's name, as `pactl set-sink-port` takes it.
    public internal(set) var name = ""
    /// The name for people.
    public internal(set) var description = ""
    public internal(set) var type = PortType.other
    /// Whether something is plugged in; nil: the server cannot tell.
    public internal(set) var isAvailable: Bool?
    public internal(set) var isActive = false
  }

  /// The server's name for it, as `AudioOutputConfiguration.sinkName`.
  public internal(set) var name = ""
  /// The name for people.
  public internal(set) var description = ""
  /// [Hz].
  public internal(set) var sampleRate = 0
  public internal(set) var channelCount = 0
  public internal(set) var state = State.unknown
  /// The active port for people; nil: the sink has no ports.
  public internal(set) var portDescription: String?
  public internal(set) var portType: PortType?
  /// The active port by the server's name for it.
  public var portName: String? { ports.first(where: \.isActive)?.name }
  /// `device.form_factor`: "headphone", "headset", "internal", "speaker", ...; nil: not told.
  public internal(set) var formFactor: String?
  /// In the server's order.
  public internal(set) var ports: [Port] = []
  /// How a Bluetooth device is used: "a2dp_sink", "headset_head_unit", ...; nil: not by Bluetooth.
  public internal(set) var bluetoothProfile: String?
  /// `device.icon_name`: "audio-headphones-bluetooth", "audio-card-pci", ...; nil: not told.
  public internal(set) var iconName: String?
  public internal(set) var isDefault = false
}

extension Sink {
  /// Whether both lead to the same place, whatever else has become of the sink.
  func leadsWhere(_ other: Sink?) -> Bool {
    guard let other else { return false }
    return name == other.name && ports == other.ports && formFactor == other.formFactor
      && bluetoothProfile == other.bluetoothProfile && iconName == other.iconName
      && description == other.description
  }
}
