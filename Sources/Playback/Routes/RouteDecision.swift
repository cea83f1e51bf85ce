// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources

/// Why a programme gets the treatment that it gets.
public enum RouteReason: String, Sendable, CaseIterable {
  case headphones
  /// Nothing tells what stands at the end; headphones are what this program is for.
  case unknownDevice = "unknown-device"
  case loudspeakers
  /// The listener has said so, for this sink or for all.
  case forcedHeadphones = "forced-headphones"
  case forcedLoudspeakers = "forced-loudspeakers"
  case modeOff = "mode-off"
  case sinkOff = "sink-off"
  /// Made for headphones already; never made spatial twice.
  case alreadyBinaural = "already-binaural"
  /// The listener leaves sources of this kind as they are.
  case notSpatialized = "not-spatialized"

  /// In a few words.
  public var text: String {
    switch self {
    case .headphones: "headphones"
    case .unknownDevice: "nothing tells of loudspeakers"
    case .loudspeakers: "loudspeakers"
    case .forcedHeadphones: "set to headphones"
    case .forcedLoudspeakers: "set to loudspeakers"
    case .modeOff: "the mode is off"
    case .sinkOff: "this output is set to off"
    case .alreadyBinaural: "the source is binaural already"
    case .notSpatialized: "such sources are not to be spatial"
    }
  }
}

/// What a programme gets on a route, and why.
public struct RouteDecision: Sendable, Equatable {
  /// Nil before there is a route.
  public let facts: RouteFacts?
  /// What the listener is taken to hear with.
  public let device: RouteDevice
  public let treatment: RouteTreatment
  public let reason: RouteReason

  /// "plain stereo (loudspeakers)"
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
  /// What the renderer lets be heard. Crosstalk is cancelled by filters on the spatial path.
  var renderedMode: Renderer.Mode { treatment == .plainStereo ? .plain : .spatial }

  /// Whether the stage follows the head. Loudspeakers stand still by themselves.
  func isTracked(in mode: StageMode) -> Bool {
    mode == .tracked && treatment != .crosstalkCancelled
  }
}
