// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources

/// Why a programme gets its treatment.
public enum RouteReason: String, Sendable, CaseIterable {
  case headphones
  /// Nothing shows the kind of device, so headphones are assumed: they are the purpose of this
  /// program.
  case unknownDevice = "unknown-device"
  case loudspeakers
  /// The listener has set it, for this sink or for all.
  case forcedHeadphones = "forced-headphones"
  case forcedLoudspeakers = "forced-loudspeakers"
  case modeOff = "mode-off"
  case sinkOff = "sink-off"
  /// The programme was already made for headphones and must not be rendered spatially again.
  case alreadyBinaural = "already-binaural"
  /// The listener leaves sources of this kind unchanged.
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
    case .notSpatialized: "such sources are not spatialized"
    }
  }
}

/// What a programme gets on a route, and why.
public struct RouteDecision: Sendable, Equatable {
  /// The facts about the route; nil before there is one.
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
  /// The mode of the renderer. The filters on the spatial path cancel the crosstalk.
  var renderedMode: Renderer.Mode { treatment == .plainStereo ? .plain : .spatial }

  /// Whether the stage follows the head. Loudspeakers stand still anyway.
  func isTracked(in mode: StageMode) -> Bool {
    mode == .tracked && treatment != .crosstalkCancelled
  }
}
