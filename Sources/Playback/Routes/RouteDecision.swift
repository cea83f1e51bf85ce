// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources

/// The reason for the treatment of a programme.
public enum RouteReason: String, Sendable, CaseIterable {
  case headphones
  /// Nothing indicates the kind of device. Headphones are assumed, because this program is made for
  /// them.
  case unknownDevice = "unknown-device"
  case loudspeakers
  /// The listener has set the kind of device to headphones, for this sink or for all.
  case forcedHeadphones = "forced-headphones"
  /// The listener has set the kind of device to loudspeakers, or has asked for crosstalk
  /// cancellation while nothing indicates the kind of device.
  case forcedLoudspeakers = "forced-loudspeakers"
  case modeOff = "mode-off"
  case sinkOff = "sink-off"
  /// The programme was already made for headphones and must not be rendered spatially again.
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

/// The treatment of a programme on a route, and the reason for it.
public struct RouteDecision: Sendable, Equatable {
  /// The facts about the route; nil if no route is known yet.
  public let facts: RouteFacts?
  /// The device that the listener is assumed to use.
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
  /// The mode of the renderer: plain for plain stereo, otherwise spatial. For loudspeakers, the
  /// filters of the spatial path cancel the crosstalk.
  var renderedMode: Renderer.Mode { treatment == .plainStereo ? .plain : .spatial }

  /// Returns whether spatial rendering compensates for head motion, so that the stage stands still.
  /// With crosstalk cancellation it never does: the loudspeakers do not move with the head.
  func isTracked(in mode: StageMode) -> Bool {
    mode == .tracked && treatment != .crosstalkCancelled
  }
}
