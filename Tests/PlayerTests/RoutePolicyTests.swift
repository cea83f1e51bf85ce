// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import PulseAudio
import SoundServer
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Checks the table of docs/sound-output.md for all combinations.
@Suite struct RoutePolicyTests {
  private static let ports: [(type: Sink.PortType, device: RouteDevice?)] = [
    (.headphones, .headphones), (.headset, .headphones), (.speaker, .loudspeakers),
    (.hdmi, .loudspeakers), (.television, .loudspeakers), (.car, .loudspeakers),
    (.handsFree, .loudspeakers), (.line, nil), (.spdif, nil), (.bluetooth, nil), (.usb, nil),
    (.network, nil), (.other, nil),
  ]

  private static let forms: [(form: String?, device: RouteDevice?)] = [
    ("headphone", .headphones), ("headset", .headphones), ("handset", .headphones),
    ("speaker", .loudspeakers), ("internal", .loudspeakers), ("portable", .loudspeakers),
    ("hifi", .loudspeakers), ("tv", .loudspeakers), ("car", .loudspeakers),
    ("hands-free", .loudspeakers), ("webcam", nil), ("computer", nil), ("", nil), (nil, nil),
  ]

  @Test func portTypeTakesPrecedenceOverFormFactor() {
    for (type, ofPort) in Self.ports {
      for (form, ofForm) in Self.forms {
        var facts = RouteFacts(sink: "sink")
        (facts.portType, facts.formFactor) = (type, form)
        // A line or S/PDIF socket leads out of the machine that it is built into.
        let isSocket = form == "internal" && (type == .line || type == .spdif)
        let expected = ofPort ?? (isSocket ? nil : ofForm) ?? .unknown
        #expect(facts.device.kind == expected, "\(type) \(form ?? "-")")
        if ofPort != nil { #expect(facts.device.evidence == .portType) }
      }
    }
  }

  @Test(arguments: [
    ("analog-output-headphones", RouteDevice.headphones), ("[Out] Headset", .headphones),
    ("analog-output-speaker", .loudspeakers), ("hdmi-output-0", .loudspeakers),
    ("analog-output", .unknown), ("headset-output", .headphones),
  ])
  func portNameDecidesIfItsTypeIsAmbiguous(name: String, device: RouteDevice) {
    for type in [Sink.PortType.other, .line, nil] {
      var facts = RouteFacts(sink: "sink")
      (facts.port, facts.portType) = (name, type)
      #expect(facts.device.kind == device)
    }
  }

  @Test func bluetoothHintsHaveTheLowestPrecedence() {
    var facts = RouteFacts(sink: "bluez")
    facts.portType = .bluetooth
    for (profile, device) in [
      ("a2dp_sink", RouteDevice.unknown), ("headset_head_unit", .headphones),
      ("headset-head-unit", .headphones), ("handsfree_head_unit", .headphones),
    ] {
      facts.bluetoothProfile = profile
      #expect(facts.device.kind == device)
    }
    facts.bluetoothProfile = "a2dp_sink"
    facts.iconName = "audio-headphones-bluetooth"
    #expect(facts.device.kind == .headphones && facts.device.evidence == .iconName)
    facts.iconName = "audio-speakers-bluetooth"
    #expect(facts.device.kind == .loudspeakers)
    facts.bluetoothProfile = "headset_head_unit"
    facts.formFactor = "car"
    #expect(facts.device.kind == .loudspeakers)
  }

  private static let layouts: [ChannelLayout] = [
    .mono, .stereo, .speakers([.frontLeft, .frontRight, .frontCenter]),
    .ambisonics(order: 1, convention: .ambiX, headLocked: false),
  ]

  /// Returns the treatment by a second, independent form of the rules.
  private func expected(
    _ device: RouteDevice, _ permission: SinkPermission?, _ policy: RoutePolicy,
    _ programme: Programme, _ mode: StageMode
  ) -> RouteTreatment {
    let isForced = policy.choice != .automatic
    if mode == .off || programme.isBinaural || policy.spatialization == .off { return .plainStereo }
    if !isForced, permission == .off { return .plainStereo }
    let isNarrow = programme.layout == .mono || programme.layout == .stereo
    if policy.spatialization == (isNarrow ? .multichannel : .monoAndStereo) { return .plainStereo }
    let onSpeakers: Bool =
      switch (policy.choice, permission) {
      case (.speakers, _), (.automatic, .speakers): true
      case (.headphones, _), (.automatic, .headphones): false
      default: device == .loudspeakers || device == .unknown && policy.cancelsCrosstalk
      }
    return !onSpeakers ? .binaural : policy.cancelsCrosstalk ? .crosstalkCancelled : .plainStereo
  }

  @Test func decisionMatchesTheDocumentedTable() {
    var count = 0
    for device in RouteDevice.allCases {
      var facts = RouteFacts(sink: "here")
      facts.portType =
        device == .headphones ? .headphones : device == .loudspeakers ? .speaker : nil
      for permission in SinkPermission.allCases.map(Optional.some) + [nil] {
        for choice in RouteChoice.allCases {
          for spatialization in Spatialization.allCases {
            for cancels in [false, true] {
              var policy = RoutePolicy()
              policy.choice = choice
              policy.spatialization = spatialization
              policy.cancelsCrosstalk = cancels
              policy.sinks = ["elsewhere": .off]
              policy.sinks["here"] = permission
              for layout in Self.layouts {
                for isBinaural in [false, true] {
                  let programme = Programme(layout: layout, isBinaural: isBinaural)
                  for mode in StageMode.allCases {
                    let decision = policy.decision(for: programme, on: facts, mode: mode)
                    #expect(
                      decision.treatment
                        == expected(device, permission, policy, programme, mode))
                    if mode == .off { #expect(decision.reason == .modeOff) }
                    count += 1
                  }
                }
              }
            }
          }
        }
      }
    }
    #expect(count == 3 * 5 * 3 * 4 * 2 * 4 * 2 * 3)
  }

  @Test func missingRouteIsTreatedAsHeadphones() {
    let decision = RoutePolicy().decision(for: Programme(layout: .stereo), on: nil)
    #expect(decision.treatment == .binaural && decision.reason == .unknownDevice)
  }

  @Test func routeCapabilityAndPermissionAreSeparate() {
    var facts = RouteFacts(sink: "box")
    facts.formFactor = "speaker"
    var policy = RoutePolicy()
    var route = SpatialRoute(facts, isDefault: true, policy: policy)
    #expect(!route.canBeSpatial && route.isAllowed && !route.isSpatial)
    policy.cancelsCrosstalk = true
    route = SpatialRoute(facts, isDefault: true, policy: policy)
    #expect(route.canBeSpatial && route.isSpatial)
    facts.formFactor = "headset"
    policy.sinks["box"] = .off
    route = SpatialRoute(facts, isDefault: true, policy: policy)
    #expect(route.canBeSpatial && !route.isAllowed && !route.isSpatial)
    #expect(route.decision.reason == .sinkOff)
    policy = RoutePolicy()
    policy.spatialization = .off
    #expect(!SpatialRoute(facts, isDefault: true, policy: policy).isAllowed)
  }

  @Test func everyReasonHasAReadableText() {
    for reason in RouteReason.allCases {
      #expect(!reason.text.isEmpty && !reason.text.contains("-"))
    }
  }
}
