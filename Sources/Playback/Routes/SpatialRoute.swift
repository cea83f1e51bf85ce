// SPDX-License-Identifier: Apache-2.0

internal import Rendering
public import SoundServer
internal import SoundSources

/// A sink's route, and whether sound is rendered spatially on it.
public struct SpatialRoute: Sendable, Equatable {
  public let facts: RouteFacts
  public let isDefault: Bool
  /// Whether the device at the end of the route allows spatial sound.
  public let canBeSpatial: Bool
  /// Whether the user allows spatial sound on this route.
  public let isAllowed: Bool
  /// The decision for a multichannel programme.
  public let decision: RouteDecision

  /// Whether a multichannel programme is rendered spatially on this route.
  public var isSpatial: Bool { decision.treatment != .plainStereo }

  public init(_ sink: Sink, policy: RoutePolicy) {
    self.init(RouteFacts(sink), isDefault: sink.isDefault, policy: policy)
  }

  public init(_ facts: RouteFacts, isDefault: Bool, policy: RoutePolicy) {
    self.facts = facts
    self.isDefault = isDefault
    canBeSpatial = policy.canBeSpatial(facts)
    isAllowed = policy.allows(facts)
    decision = policy.decision(for: .surround, on: facts)
  }
}

extension Programme {
  /// A programme in 5.1.
  static let surround = Programme(
    layout: .speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ]))
}
