// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources

/// The reason for the treatment of a programme.
public enum RouteReason: String, Sendable, CaseIterable {
  case headphones
  /// The device is unknown and assumed to be headphones.
  case unknownDevice = "unknown-device"
  case loudspeakers
  /// The listener has set the device to headphones.
  case forcedHeadphones = "forced-headphones"
  /// The listener has set the device to loudspeakers, or wants crosstalk cancellation on an unknown
  /// device.
  case forcedLoudspeakers = "forced-loudspeakers"
  case modeOff = "mode-off"
  case sinkOff = "sink-off"
  /// The programme was made for headphones.
  case alreadyBinaural = "already-binaural"
  /// The listener does not want sources of this kind to be rendered spatially.
  case notSpatialized = "not-spatialized"

  /// The reason in a few words.
  public var text: String {
    switch self {
    case .headphones: "headphones"
    case .unknownDevice: "no sign of loudspeakers"
    case .loudspeakers: "loudspeakers"
    case .forcedHeadphones: "set to headphones"
    case .forcedLoudspeakers: "set to loudspeakers"
    case .modeOff: "the mode is off"
    case .sinkOff: "this output is set to off"
    case .alreadyBinaural: "the source is already binaural"
    case .notSpatialized: "sources of this kind are not spatialized"
    }
  }
}

/// The treatment of a programme on a route, with its reason.
public struct RouteDecision: Sendable, Equatable {
  /// The facts about the route; nil if the route is unknown.
  public let facts: RouteFacts?
  /// The assumed kind of device.
  public let device: RouteDevice
  public let treatment: RouteTreatment
  public let reason: RouteReason

  /// A short description, such as "plain stereo (loudspeakers)".
  public var text: String {
    let name =
      switch treatment {
      case .binaural: "binaural"
      case .plainStereo: "plain stereo"
      case .crosstalkCancelled: "crosstalk-cancelled stereo"
      }
    return "\(name) (\(reason.text))"
  }
}

extension RouteDecision {
  /// The mode of the renderer. Crosstalk-cancelled stereo is also rendered in spatial mode.
  var renderedMode: Renderer.Mode { treatment == .plainStereo ? .plain : .spatial }

  /// Returns whether spatial rendering compensates for head motion. The result is false for
  /// crosstalk cancellation, because loudspeakers do not move with the head.
  func isTracked(in mode: StageMode) -> Bool {
    mode == .tracked && treatment != .crosstalkCancelled
  }
}
