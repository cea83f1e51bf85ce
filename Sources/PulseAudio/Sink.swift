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
    case other
  }

  /// The name `--sink` takes.
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
  /// `device.form_factor`: "headphone", "headset", "internal", "speaker", ...; nil: not told.
  public internal(set) var formFactor: String?
  public internal(set) var isDefault = false
}
