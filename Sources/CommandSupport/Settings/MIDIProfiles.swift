// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import MIDITracking

/// Decodes the MIDI frames of a profile.
private struct ProfiledFrames: MIDIFrameDecoder {
  var decoder: FrameDecoder

  mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
    decoder.decode(frame, arrival: arrival)
  }
}

extension MIDIModel {
  /// Returns the model that a profile describes; nil if its link is not MIDI.
  init?(_ profile: TrackerProfile) {
    guard case .midi(let port) = profile.link, let framing = profile.midiFraming else { return nil }
    self.init(
      "profile \(profile.name)", by: "", kind: profile.kind, verifiedWith: profile.evidence,
      levelsItself: profile.hasOrientation, portPrefixes: [port.name]
    ) { settings in
      MIDIFrames(
        framing, startMessages: profile.start.packets, stopMessages: profile.stop.packets,
        decoder: ProfiledFrames(decoder: FrameDecoder(profile, axes: settings.axes)))
    }
  }
}

extension TrackerProfile {
  fileprivate var midiFraming: MIDIFraming? {
    switch framing {
    case .binary(let framing):
      .systemExclusive(prefix: framing.sync, length: framing.length)
    case .controllers(let gap):
      .controllers(
        controllerPairs.map {
          ControllerPair(channel: Int($0.channel), upper: $0.most, lower: $0.least)
        }, quietNanoseconds: Int64(gap * 1e6))
    case .message, .text: nil
    }
  }
}
