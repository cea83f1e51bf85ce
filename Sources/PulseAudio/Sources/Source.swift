// SPDX-License-Identifier: Apache-2.0

/// An input of the sound server, as the server describes it.
public struct Source: Sendable, Equatable {
  public enum State: String, Sendable, Equatable {
    case running
    case idle
    case suspended
    case unknown
  }

  /// The kind of connection or device behind a port.
  public enum PortType: String, Sendable, Equatable {
    case microphone
    case headset
    case handsFree
    case line
    case hdmi
    case spdif
    case bluetooth
    case usb
    case network
    case other
  }

  /// One of the source's connections, such as a microphone jack.
  public struct Port: Sendable, Equatable {
    /// The server's name for the port, as used by `pactl set-source-port`.
    public internal(set) var name = ""
    /// The human-readable name of the port.
    public internal(set) var description = ""
    public internal(set) var type = PortType.other
    /// Whether something is plugged in; nil if the server does not know.
    public internal(set) var isAvailable: Bool?
    public internal(set) var isActive = false
  }

  /// The server's name for the source, as used in `SourceCapture`.
  public internal(set) var name = ""
  /// The human-readable name of the source.
  public internal(set) var description = ""
  /// The source's sample rate [Hz].
  public internal(set) var sampleRate = 0
  public internal(set) var encoding = SampleEncoding.other
  /// The server's name for each channel, such as "front-left" or "aux0".
  public internal(set) var channelMap: [String] = []
  public var channelCount: Int { channelMap.count }
  public internal(set) var state = State.unknown
  /// The ports, in the server's order.
  public internal(set) var ports: [Port] = []
  /// The port in use; nil if there is none.
  public var activePort: Port? { ports.first(where: \.isActive) }
  /// The device's `device.form_factor`: "microphone", "headset", "webcam", "internal", ...; nil if
  /// unknown.
  public internal(set) var formFactor: String?
  /// The profile of a Bluetooth device, such as "headset_head_unit"; nil if it is unknown, or for
  /// other devices.
  public internal(set) var bluetoothProfile: String?
  /// The codec of a Bluetooth device, such as "CVSD" or "mSBC"; nil if it is unknown, or for other
  /// devices.
  public internal(set) var bluetoothCodec: String?
  /// The name of the sink whose sound this source returns, empty if the server does not name it;
  /// nil for a source that is not a monitor.
  public internal(set) var monitoredSink: String?
  public var isMonitor: Bool { monitoredSink != nil }
  public internal(set) var isDefault = false
}

/// The form in which a source delivers samples.
public enum SampleEncoding: String, Sendable, Equatable {
  case float32
  case int16
  /// 24 bits in 3 bytes.
  case int24
  /// 24 bits in the lower part of 4 bytes.
  case int24in32
  case int32
  /// A form that the server must convert to float32.
  case other

  /// The size of one sample in bytes.
  var bytes: Int {
    switch self {
    case .int16: 2
    case .int24: 3
    case .float32, .int24in32, .int32, .other: 4
    }
  }
}
