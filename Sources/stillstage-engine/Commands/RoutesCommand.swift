// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Playback
import Rendering
import SoundServer
import SoundSources
import UserFiles

func routesCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let policy: RoutePolicy
  do throws(UserFileError) { policy = try RoutePolicy.ofUser() } catch {
    throw CommandFailure(error.description)
  }
  let sinks: [Sink]
  do throws(SoundServerError) {
    sinks = try during("asking the sound server") { () throws(SoundServerError) in
      try SinkList.read(output: OutputChoice(command[Options.soundServer]))
    }
  } catch {
    throw CommandFailure(error.message)
  }
  if command[Options.json] {
    return try printJSON(sinks.map { RouteRecord($0, SpatialRoute($0, policy: policy)) })
  }
  guard !sinks.isEmpty else { return try printOutput("The sound server has no outputs.\n") }
  let heading = ["SINK", "PORT", "TYPE", "FORM FACTOR", "MULTICHANNEL BECOMES"]
  let rows = sinks.map { row($0, SpatialRoute($0, policy: policy)) }
  try printOutput(table([heading] + rows))
}

private func row(_ sink: Sink, _ route: SpatialRoute) -> [String] {
  [
    sink.name + (sink.isDefault ? " (default)" : ""), sink.portDescription ?? "-",
    sink.portType?.rawValue ?? "-", sink.formFactor ?? "-", route.decision.text,
  ].map(\.withoutControls)
}

/// Returns the rules for sinks, from the command line and from the user's file.
func routePolicy(_ command: ParsedCommand) throws(CommandFailure) -> RoutePolicy {
  var policy = RoutePolicy()
  policy.choice = RouteChoice(command[Options.route])
  guard let folder = UserFolder.ofThisProcess else { return policy }
  do throws(UserFileError) { policy.sinks = try RoutePolicy.sinks(in: folder) } catch {
    throw CommandFailure(error.description)
  }
  return policy
}

extension RouteChoice {
  fileprivate init(_ option: RouteOption) {
    switch option {
    case .auto: self = .automatic
    case .headphones: self = .headphones
    case .speakers: self = .speakers
    }
  }
}

/// A sink in `stillstage routes --json`; docs/sound-output.md explains the keys. Unknown values are
/// absent.
private struct RouteRecord: Encodable {
  let bluetoothProfile: String?
  let canBeSpatial: Bool
  let description: String
  let device: String
  let evidence: String
  let formFactor: String?
  let isAllowed: Bool
  let isDefault: Bool
  let ports: [Port]
  let reason: String
  let sink: String
  let treatment: String

  struct Port: Encodable {
    let description: String
    let isActive: Bool
    let isAvailable: Bool?
    let name: String
    let type: String
  }

  init(_ sink: Sink, _ route: SpatialRoute) {
    bluetoothProfile = sink.bluetoothProfile
    canBeSpatial = route.canBeSpatial
    description = sink.description
    device = route.decision.device.rawValue
    evidence = route.facts.device.evidence.rawValue
    formFactor = sink.formFactor
    isAllowed = route.isAllowed
    isDefault = sink.isDefault
    ports = sink.ports.map {
      Port(
        description: $0.description, isActive: $0.isActive, isAvailable: $0.isAvailable,
        name: $0.name, type: $0.type.rawValue)
    }
    reason = route.decision.reason.rawValue
    self.sink = sink.name
    treatment = route.decision.treatment.rawValue
  }
}
