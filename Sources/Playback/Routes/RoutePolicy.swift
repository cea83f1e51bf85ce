// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import Rendering
package import SoundServer
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
  /// Spatial sound, if the device allows it.
  case automatic = "auto"
  /// Headphones, whatever the sound server reports.
  case headphones
  /// Loudspeakers, whatever the sound server reports.
  case speakers
  /// Plain stereo.
  case off
}

/// How a programme is rendered on a route.
public enum RouteTreatment: String, Sendable, CaseIterable {
  case binaural
  case plainStereo = "plain-stereo"
  /// Binaural sound over loudspeakers, with crosstalk cancellation and without head tracking.
  case crosstalkCancelled = "crosstalk-cancelled"
}

/// The properties of a programme that determine its treatment.
public struct Programme: Sendable, Equatable {
  /// The layout of the content, regardless of the bus.
  public var layout: ChannelLayout
  /// Whether the programme was made for headphones.
  public var isBinaural: Bool

  public init(layout: ChannelLayout, isBinaural: Bool = false) {
    (self.layout, self.isBinaural) = (layout, isBinaural)
  }

  /// Whether the layout is neither mono nor stereo.
  public var isMultichannel: Bool { layout.isMultichannel }
}

/// What the listener allows: which sources are rendered spatially, and on which routes.
public struct RoutePolicy: Sendable, Equatable {
  /// The kind of device that all routes are assumed to have. Default: automatic.
  public var choice = RouteChoice.automatic
  /// Settings for individual sinks, by the server's names for the sinks. They apply only if
  /// `choice` is automatic. Default: none.
  public var sinks: [String: SinkPermission] = [:]
  /// Whether loudspeakers get crosstalk-cancelled sound instead of plain stereo. If true, devices
  /// of unknown kind count as loudspeakers. Default: false.
  public var cancelsCrosstalk = false
  /// Which sources are rendered spatially. Default: all.
  public var spatialization = Spatialization.all

  public init() {}

  /// Returns this policy with the `spatialization` of `settings`, and with crosstalk cancellation
  /// if the playback device in `settings` is not headphones.
  func applying(_ settings: RenderSettings) -> RoutePolicy {
    var policy = self
    policy.spatialization = settings.spatialization
    if settings.playback != .headphones { policy.cancelsCrosstalk = true }
    return policy
  }

  /// Returns the treatment of a programme on a route, and the reason for it.
  ///
  /// - Parameters:
  ///   - facts: the route; nil counts as an unknown device.
  ///   - mode: the listener's choice; `.off` gives plain stereo.
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

  /// Returns whether the device at the end of a route allows spatial sound.
  public func canBeSpatial(_ facts: RouteFacts) -> Bool {
    device(facts).kind != .loudspeakers || cancelsCrosstalk
  }

  /// Returns whether the listener allows a route to be spatial.
  public func allows(_ facts: RouteFacts) -> Bool { spatialization != .off && !isOff(facts) }

  /// Returns the kind of device that a sink leads to: what the listener has set, or else what the
  /// sound server reports. If `cancelsCrosstalk` is true, devices of unknown kind count as
  /// loudspeakers. Otherwise, Bluetooth devices of unknown kind count as headphones. Headphones on
  /// an unplugged port count as unknown.
  package func kind(of sink: Sink) -> RouteDevice {
    let (kind, isForced) = device(RouteFacts(sink))
    if isForced { return kind }
    if sink.leadsToHeadphones { return .headphones }
    return kind == .headphones ? .unknown : kind
  }

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
      // A listener who asks for crosstalk cancellation has loudspeakers, even if the server does
      // not report them.
      return kind == .unknown && cancelsCrosstalk ? (.loudspeakers, true) : (kind, false)
    }
  }
}
