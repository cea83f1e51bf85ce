// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import Rendering
internal import SoundSources

/// The kind of device that routes are assumed to have.
public enum RouteChoice: String, Sendable, CaseIterable {
  /// The kind that the sound server reports.
  case automatic = "auto"
  case headphones
  case speakers
}

/// What the user has set for one sink.
public enum SinkPermission: String, Sendable, CaseIterable {
  /// Spatial if possible.
  case automatic = "auto"
  /// Headphones, whatever the sound server reports.
  case headphones
  /// Loudspeakers, whatever the sound server reports.
  case speakers
  /// Never spatial.
  case off
}

/// How a programme is rendered on a route.
public enum RouteTreatment: String, Sendable, CaseIterable {
  case binaural
  case plainStereo = "plain-stereo"
  /// Binaural sound over loudspeakers, with crosstalk cancellation and without head tracking. Plain
  /// stereo plays until its filters are ready.
  case crosstalkCancelled = "crosstalk-cancelled"
}

/// The properties of a programme that its treatment depends on.
public struct Programme: Sendable, Equatable {
  /// The layout of the content, whatever bus carries it.
  public var layout: ChannelLayout
  /// Whether it was already made for headphones.
  public var isBinaural: Bool

  public init(layout: ChannelLayout, isBinaural: Bool = false) {
    (self.layout, self.isBinaural) = (layout, isBinaural)
  }

  /// Whether it has more channels than mono or stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
}

/// What the listener allows: which sources become spatial, and where.
public struct RoutePolicy: Sendable, Equatable {
  /// The kind of device. Default: as the sound server reports.
  public var choice = RouteChoice.automatic
  /// Settings for single sinks, by the sound server's names. Default: none.
  public var sinks: [String: SinkPermission] = [:]
  /// Whether loudspeakers get crosstalk-cancelled sound instead of plain stereo. It also applies to
  /// outputs of unknown kind. Default: no.
  public var cancelsCrosstalk = false
  /// Which sources are rendered spatially. Default: all.
  public var spatialization = Spatialization.all

  public init() {}

  /// Returns what a programme gets on a route, and why. A pure function.
  ///
  /// - Parameters:
  ///   - programme: the programme that is played.
  ///   - facts: the route; nil if there is none yet, which counts as an unknown device.
  ///   - mode: the listener's choice; `.off` is plain stereo everywhere.
  public func decision(
    for programme: Programme, on facts: RouteFacts?, mode: StageMode = .tracked
  ) -> RouteDecision {
    let (device, isForced) = device(facts)
    func decided(_ treatment: RouteTreatment, _ reason: RouteReason) -> RouteDecision {
      RouteDecision(facts: facts, device: device, treatment: treatment, reason: reason)
    }
    if mode == .off { return decided(.plainStereo, .modeOff) }
    if isOff(facts) { return decided(.plainStereo, .sinkOff) }
    if programme.isBinaural { return decided(.plainStereo, .alreadyBinaural) }
    if !spatialization.includes(programme.layout) { return decided(.plainStereo, .notSpatialized) }
    if device == .loudspeakers {
      return decided(
        cancelsCrosstalk ? .crosstalkCancelled : .plainStereo,
        isForced ? .forcedLoudspeakers : .loudspeakers)
    }
    if isForced { return decided(.binaural, .forcedHeadphones) }
    return decided(.binaural, device == .headphones ? .headphones : .unknownDevice)
  }

  /// Whether a route can be spatial, whatever the programme and the listener's wishes are.
  public func canBeSpatial(_ facts: RouteFacts) -> Bool {
    device(facts).kind != .loudspeakers || cancelsCrosstalk
  }

  /// Whether the listener allows a route to be spatial.
  public func allows(_ facts: RouteFacts) -> Bool { spatialization != .off && !isOff(facts) }

  private func isOff(_ facts: RouteFacts?) -> Bool {
    choice == .automatic && facts.flatMap { sinks[$0.sink] } == .off
  }

  private func device(_ facts: RouteFacts?) -> (kind: RouteDevice, isForced: Bool) {
    switch choice {
    case .headphones: return (.headphones, true)
    case .speakers: return (.loudspeakers, true)
    case .automatic: break
    }
    switch facts.flatMap({ sinks[$0.sink] }) {
    case .headphones: return (.headphones, true)
    case .speakers: return (.loudspeakers, true)
    case .automatic, .off, nil:
      let kind = facts?.device.kind ?? .unknown
      // A listener who asks for crosstalk cancellation knows more than a server that reports
      // nothing.
      return kind == .unknown && cancelsCrosstalk ? (.loudspeakers, true) : (kind, false)
    }
  }
}
