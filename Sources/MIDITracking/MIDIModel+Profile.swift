// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// Decodes the frames of a profile. Rejects those with a wrong tail or checksum.
private struct ProfiledDecoder: MIDIFrameDecoder {
  let framing: TrackerProfile.Framing
  var decoder: FrameDecoder

  mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
    if case .binary(let binary) = framing, !binary.accepts(frame) { return nil }
    return decoder.decode(frame, arrival: arrival)
  }
}

extension MIDIModel {
  /// Creates the model that a profile describes; nil if the profile is for a link other than MIDI.
  package init?(_ profile: TrackerProfile) {
    guard case .midi(let port) = profile.link else { return nil }
    let framing: MIDIFraming
    switch profile.framing {
    case .message, .text: framing = .systemExclusive(prefix: [], length: nil)
    case .binary(let frame):
      framing = .systemExclusive(prefix: frame.sync, length: frame.length)
    case .controllers(let milliseconds):
      let pairs = profile.controllerPairs.map { place in
        ControllerPair(
          channel: Int(place.channel), upper: place.most, lower: place.least)
      }
      framing = .controllers(pairs, quietNanoseconds: Int64(milliseconds * 1e6))
    }
    self.init(
      "profile \(profile.name)", by: "", kind: profile.kind, verifiedWith: profile.evidence,
      levelsItself: profile.hasOrientation, portPrefixes: [port.name]
    ) { settings in
      MIDIFrames(
        framing, startMessages: profile.start.packets,
        startDelay: Int64(profile.start.delayMilliseconds) * 1_000_000,
        keepAlive: profile.keepAlive.packets.isEmpty
          ? nil : (profile.keepAlive.packets, Int64(profile.keepAliveSeconds * 1e9)),
        stopMessages: profile.stop.packets,
        decoder: ProfiledDecoder(
          framing: profile.framing, decoder: FrameDecoder(profile, axes: settings.axes)))
    }
  }
}
