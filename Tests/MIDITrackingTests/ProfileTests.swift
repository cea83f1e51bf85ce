// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import MIDITracking

/// Trackers that a profile with the link `midi` describes.
@Suite(.serialized) struct ProfileTests {
  private static let supperware = """
    { "schema": 1, "name": "s", "link": "midi", "midi": { "port": "My" },
      "axes": "y,-x,z",
      "frame": { "sync": "F0 00 21 42 40 01", "length": 15 },
      "start": { "bytes": ["F0 00 21 42 00 00 28 01 05 03 40 F7"] },
      "stop": { "bytes": ["F0 00 21 42 00 00 40 F7"] },
      "signals": {
        "quaternionW": { "byte": 6, "type": "i14be", "scale": 0.00048828125 },
        "quaternionX": { "byte": 8, "type": "i14be", "scale": 0.00048828125 },
        "quaternionY": { "byte": 10, "type": "i14be", "scale": 0.00048828125 },
        "quaternionZ": { "byte": 12, "type": "i14be", "scale": 0.00048828125 } } }
    """
  private static let mrHeadTracker = """
    { "schema": 1, "name": "mr", "link": "midi", "midi": { "port": "My" },
      "frame": { "controllers": true, "gap": 1 },
      "signals": {
        "quaternionW": { "controller": 16, "low": 48, "scale": 1.220852e-4, "offset": -1 },
        "quaternionX": { "controller": 17, "low": 49, "scale": 1.220852e-4, "offset": -1 },
        "quaternionY": { "controller": 18, "low": 50, "scale": 1.220852e-4, "offset": -1 },
        "quaternionZ": { "controller": 19, "low": 51, "scale": 1.220852e-4, "offset": -1 } } }
    """

  private func model(_ text: String) throws -> MIDIModel {
    let (profile, problems) = ProfileReader.read(Array(text.utf8))
    return try #require(profile.flatMap(MIDIModel.init), "\(problems)")
  }

  private func heads(_ bytes: [UInt8], _ tracker: any MIDITrackerProtocol) -> [Quaternion] {
    var (parser, tracker) = (MIDIParser(), tracker)
    let readings = parser.parse(bytes).messages.flatMap {
      tracker.decode($0, arrival: 1) ?? []
    }
    return (readings + (tracker.advance(now: 5_000_000) ?? [])).heads
  }

  @Test("Profiles of both protocols give the pose of the head")
  func poses() throws {
    for step in 0..<50 {
      let head = lookingAround(Double(step) * 0.3)
      var device = MrHeadTrackerMessages(.quaternion)
      let found =
        heads(
          SupperwareMessages.quaternion(head), try model(Self.supperware).open(.init()))
        + heads(device.bytes(head), try model(Self.mrHeadTracker).open(.init()))
      #expect(found.count == 2)
      for pose in found {
        #expect(Quaternion.angle(between: pose, head) * degreesPerRadian < 0.2)
      }
    }
  }

  @Test("A SysEx message with a wrong checksum or tail is rejected")
  func checksums() throws {
    let frame = #""length": 15 }"#
    let checked = Self.supperware.replacing(
      frame,
      with: #""length": 15, "tail": "F7", "checksum": "#
        + #"{ "type": "xor8", "from": 6, "to": 13, "at": 13 } }"#)
    let model = try model(checked)
    var message = SupperwareMessages.quaternion(YawPitchRoll(yaw: 40, pitch: 9, roll: 5).quaternion)
    message[13] = message[6..<13].reduce(0, ^)
    #expect(heads(message, model.open(.init())).count == 1)
    message[13] ^= 1
    #expect(heads(message, model.open(.init())).isEmpty)
  }

  @Test("A tracker with a profile is listed, started, captured and stopped")
  func session() throws {
    let ports = FakePorts([FakePorts.port(20, "My tracker")])
    let capture = FrameCapture()
    let provider = MIDITrackers(
      models: [try model(Self.supperware)], capture: capture, system: ports)
    let tracker = try #require(provider.trackers(detailed: false).first)
    #expect(tracker.protocolDescription == "profile s" && tracker.levelsItself)
    var connection = try provider.connect(tracker, isCalibrated: false)
    let message = SupperwareMessages.quaternion(.identity)
    ports.send(message)
    #expect(
      waitUntil(seconds: 2) {
        if case .readings(let readings, 0) = connection.listen(timeoutMilliseconds: 5) {
          readings.heads == [.identity]
        } else {
          false
        }
      })
    connection.close()
    let start = hex("F0 00 21 42 00 00 28 01 05 03 40 F7")
    let stop = hex("F0 00 21 42 00 00 40 F7")
    #expect(ports.change { $0.written } == [start, stop])
    #expect(capture.source == "profile:s")
    #expect(capture.take().map(\.bytes) == [start, message, stop])
  }

  @Test("A profile for another link gives no MIDI model")
  func otherLinks() {
    #expect(MIDIModel(TrackerProfile(name: "hid")) == nil)
  }
}
