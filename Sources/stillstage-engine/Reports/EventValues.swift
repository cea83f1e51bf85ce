// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Playback
import Rendering
import SoundSources

extension RenditionNews {
  var values: [String: EventLog.Value] {
    var values: [String: EventLog.Value] = [
      "name": .text(name), "layout": .text(layout.name), "channels": .integer(layout.channelCount),
      "treatment": .text(isMultichannel ? "multichannel" : "stereo"),
      "bitRate": .number(bitRate), "at": .number(at), "gain": .number(gain),
    ]
    if let reason { values["reason"] = .text(reason) }
    if let shift { values["shiftFrames"] = .integer(shift) }
    if let agreement { values["agreement"] = .number(agreement) }
    return values
  }
}

extension LoudnessReport {
  var values: [String: EventLog.Value] {
    var values: [String: EventLog.Value] = [
      "gain": .number(gain), "goal": .number(goal), "origin": .text(origin.rawValue),
      "loudness": .number(loudness),
    ]
    if let statement { values["statement"] = .text(statement.rawValue) }
    return values
  }
}

extension RenderSettings {
  /// A short description of the HRTF set and the decoder.
  func summary(isAmbisonic: Bool) -> String {
    "\(hrtfName), \(designText(isAmbisonic: isAmbisonic))"
  }

  /// The file name of the HRTF set; "default HRTF" if the settings name no set.
  var hrtfName: String {
    hrtfPath.map { String($0.split(separator: "/").last ?? "") } ?? "default HRTF"
  }

  /// A short description of the decoder, such as "magls, bus of order 3".
  func designText(isAmbisonic: Bool) -> String {
    if isDirect { return "direct" }
    if isParametric { return "parametric" }
    return method.rawValue + (isAmbisonic ? "" : ", bus of order \(busOrder)")
  }
}

extension RouteDecision {
  /// The values in the event log. Missing values are left out; an unknown device is `unknown`.
  var values: [String: EventLog.Value] {
    let facts = facts
    let texts: [String: String?] = [
      "sink": facts?.sink, "port": facts?.port, "portType": facts?.portType?.rawValue,
      "formFactor": facts?.formFactor, "device": device.rawValue,
      "treatment": treatment.rawValue, "reason": reason.rawValue,
    ]
    return texts.compactMapValues { $0.map { .text($0) } }
  }
}
