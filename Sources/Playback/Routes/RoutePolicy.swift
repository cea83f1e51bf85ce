// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import Rendering
internal import SoundSources

/// What a route is taken for.
public enum RouteChoice: String, Sendable, CaseIterable {
  /// What the sound server tells of it.
  case automatic = "auto"
  case headphones
  case speakers
}

/// What the user has said of one sink.
public enum SinkPermission: String, Sendable, CaseIterable {
  /// Spatial where it can be.
  case automatic = "auto"
  /// Headphones, whatever the sound server tells.
  case headphones
  /// Loudspeakers, whatever the sound server tells.
  case speakers
  /// Never spatial.
  case off
}

/// What is heard of a programme.
public enum RouteTreatment: String, Sendable, CaseIterable {
  case binaural
  case plainStereo = "plain-stereo"
  /// Binaural over loudspeakers, each ear's sound kept from the other ear; head tracking does not
  /// apply. Until its filters are there, plain stereo is heard.
  case crosstalkCancelled = "crosstalk-cancelled"
}

/// What a programme is, as far as its treatment depends on it.
public struct Programme: Sendable, Equatable {
  /// Of the content, whatever bus carries it.
  public var layout: ChannelLayout
  /// Whether it was made for headphones already.
  public var isBinaural: Bool

  public init(layout: ChannelLayout, isBinaural: Bool = false) {
    (self.layout, self.isBinaural) = (layout, isBinaural)
  }

  /// Whether it has more than mono or stereo to give.
  public var isMultichannel: Bool { layout.isMultichannel }
}

/// What the listener allows: which sources become spatial, and where.
public struct RoutePolicy: Sendable, Equatable {
  /// Default: as the sound server tells.
  public var choice = RouteChoice.automatic
  /// By the sound server's names of sinks. Default: none is special.
  public var sinks: [String: SinkPermission] = [:]
  /// Whether loudspeakers get crosstalk-cancelled stereo instead of plain stereo; so do outputs of
  /// which nothing is told. Default: no.
  public var cancelsCrosstalk = false
  /// Default: all sources.
  public var spatialization = Spatialization.all

  public init() {}

  /// What a programme gets on a route, and why. A pure function.
  ///
  /// - Parameters:
  ///   - programme: what is played.
  ///   - facts: the route; nil where there is none yet, which counts as headphones.
  ///   - mode: what the listener has chosen; `.off` is plain stereo everywhere.
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

  /// Whether the listener lets a route be spatial.
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
      // Who asks for loudspeakers knows more than a server that tells nothing.
      return kind == .unknown && cancelsCrosstalk ? (.loudspeakers, true) : (kind, false)
    }
  }
}
