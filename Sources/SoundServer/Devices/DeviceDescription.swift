// SPDX-License-Identifier: Apache-2.0

/// Properties that `Sink` and `Source` have in common.
package protocol DeviceDescription: Sendable, Equatable {
  /// The kinds of port that are distinguished for devices of this type. Other kinds become `other`.
  static var portKinds: Set<DevicePort.Kind> { get }

  var name: String { get set }
  var description: String { get set }
  var sampleRate: Int { get set }
  var state: DeviceState { get set }
  var ports: [DevicePort] { get set }
  var formFactor: String? { get set }
  var bluetoothProfile: String? { get set }
  var isDefault: Bool { get set }

  init()
}

public enum DeviceState: String, Sendable, Equatable {
  case running
  case idle
  case suspended
  case unknown
}

/// A port of a sink or a source, such as a headphone jack or a built-in microphone.
public struct DevicePort: Sendable, Equatable {
  /// The kind of connector or device that a port represents.
  public enum Kind: String, Sendable, Equatable {
    case headphones
    case microphone
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
    /// A hands-free device, such as a car kit or a conference loudspeaker.
    case handsFree
    case other
  }

  /// The server's name for the port.
  public package(set) var name = ""
  /// The human-readable name of the port.
  public package(set) var description = ""
  public package(set) var type = Kind.other
  /// Whether a device is connected to the port; nil if the server does not know.
  public package(set) var isAvailable: Bool?
  public package(set) var isActive = false

  package init() {}
}
