// SPDX-License-Identifier: Apache-2.0

/// An input of the sound server, as the server describes it.
public struct Source: Sendable, Equatable {
  public typealias State = DeviceState
  public typealias Port = DevicePort
  public typealias PortType = DevicePort.Kind

  /// The server's name for the source.
  public package(set) var name = ""
  /// The human-readable name of the source.
  public package(set) var description = ""
  /// The source's sample rate [Hz].
  public package(set) var sampleRate = 0
  public package(set) var encoding = SampleEncoding.other
  /// The server's name for each channel, such as "front-left" or "aux0".
  public package(set) var channelMap: [String] = []
  public var channelCount: Int { channelMap.count }
  public package(set) var state = State.unknown
  /// The ports, in the server's order.
  public package(set) var ports: [Port] = []
  /// The active port; nil if there is none.
  public var activePort: Port? { ports.first(where: \.isActive) }
  /// The device's form factor, such as "headset" or "webcam"; nil if unknown.
  public package(set) var formFactor: String?
  /// The profile of a Bluetooth device, such as "headset_head_unit"; nil if the server reports
  /// none.
  public package(set) var bluetoothProfile: String?
  /// The codec of a Bluetooth device, such as "CVSD" or "mSBC"; nil if the server reports none.
  public package(set) var bluetoothCodec: String?
  /// The name of the monitored sink; empty if the server does not name the sink. Nil if the source
  /// is not a monitor.
  public package(set) var monitoredSink: String?
  public var isMonitor: Bool { monitoredSink != nil }
  public package(set) var isDefault = false

  package init() {}
}

extension Source: DeviceDescription {
  package static let portKinds: Set<PortType> = [
    .microphone, .headset, .handsFree, .line, .hdmi, .spdif, .bluetooth, .usb, .network,
  ]
}

/// The encoding of a source's samples.
public enum SampleEncoding: String, Sendable, Equatable {
  case float32
  case int16
  /// 24 bits in 3 bytes.
  case int24
  /// 24 bits in the lower 3 of 4 bytes.
  case int24in32
  case int32
  /// An encoding that the server must convert to float32.
  case other

  /// The size of one sample in bytes; for `other`, after the conversion to float32.
  package var bytes: Int {
    switch self {
    case .int16: 2
    case .int24: 3
    case .float32, .int24in32, .int32, .other: 4
    }
  }
}
