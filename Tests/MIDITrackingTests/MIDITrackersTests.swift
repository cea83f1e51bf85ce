// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import Glibc
import HeadTracking
import TestSupport
import Testing

@testable import MIDITracking

/// MIDI trackers on a simulated sequencer.
@Suite(.serialized) struct MIDITrackersTests {
  private static let supperware = FakePorts.port(
    24, "Head Tracker", usb: USBIdentity(vendorID: 0x1234, productID: 0x5678, serial: ""))
  private static let mrHeadTracker = FakePorts.port(28, "MrHeadTracker")
  private static let identity = SupperwareMessages.quaternion(.identity)
  private static let begin = Supperware().startMessages
  private static let stop = Supperware().stopMessages

  private func settings(
    _ ports: FakePorts, _ midi: MIDISettings = MIDISettings(), request: String = ""
  ) -> TrackerSettings {
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    settings.providers = [
      MIDITrackers(settings: midi, request: MIDITrackers.Request(request), system: ports)
    ]
    return settings
  }

  /// Makes the simulated Supperware answer its start message.
  private func answering(_ ports: FakePorts) {
    ports.change { $0.answer = { $0 == Self.begin[0] ? [Self.identity] : [] } }
  }

  // MARK: List

  @Test("Trackers are listed by the names of their ports, one for each device")
  func lists() {
    let ports = FakePorts([
      FakePorts.port(14, "Midi Through"), Self.supperware,
      FakePorts.port(24, "Head Tracker", port: 1), Self.mrHeadTracker,
      FakePorts.port(32, "Teensy Head Tracker"), FakePorts.port(36, "Supperware Bootloader"),
    ])
    let found = MIDITrackers(system: ports).trackers(detailed: false)
    #expect(found.map(\.name) == ["Head Tracker", "MrHeadTracker", "Teensy Head Tracker"])
    #expect(found.map(\.protocolDescription) == ["Supperware", "MrHeadTracker", "MrHeadTracker"])
    let words = ["Head-Tracker", "MrHeadTracker", "Teensy-Head-Tracker"]
    #expect(found.map(\.serial) == words.map { "midi:\($0)" })
    #expect(found.map(\.path) == ["midi:24:0", "midi:28:0", "midi:32:0"])
    #expect(found.map(\.vendorAndProduct) == ["1234:5678", "0000:0000", "0000:0000"])
    #expect(found.allSatisfy { $0.kind == .head && $0.access == .ready && $0.levelsItself })
    #expect(found.allSatisfy { $0.evidence == .documentation })
    #expect(ports.change { $0.openings } == 0)
  }

  @Test("A port with any name is a tracker if the ID names it with its model")
  func requests() throws {
    let ports = FakePorts([FakePorts.port(20, "My: box"), Self.supperware])
    let request = try #require(MIDITrackers.Request("midi:My: b:MrHeadTracker"))
    let found = MIDITrackers(request: request, system: ports).trackers(detailed: false)
    #expect(found.map(\.protocolDescription) == ["MrHeadTracker", "Supperware"])
    let list = TrackerList.current(settings(ports, request: request.id))
    #expect(try list.match(request.id).name == "My: box")
    for id in ["midi:Head-Tracker", "midi::supperware", "osc:9000", "midi:24:0", "supperware"] {
      #expect(MIDITrackers.Request(id) == nil)
    }
  }

  @Test("Models of profiles take precedence")
  func profiles() {
    let model = MIDIModel(
      "mine", by: "me", kind: .controller, verifiedWith: .hardware, levelsItself: false,
      portPrefixes: ["Head"]
    ) { _ in MrHeadTracker() }
    let found = MIDITrackers(models: [model], system: FakePorts([Self.supperware]))
      .trackers(detailed: false)
    #expect(found.map(\.protocolDescription) == ["mine"])
    #expect(found[0].kind == .controller && found[0].evidence == .hardware)
  }

  @Test("A tracker that cannot be used gives one line that says why and what to do")
  func errors() throws {
    let ports = FakePorts([Self.supperware])
    let provider = MIDITrackers(system: ports)
    let tracker = try #require(provider.trackers(detailed: false).first)
    func failure() -> String {
      do throws(HeadTrackingError) {
        _ = try provider.connect(tracker, isCalibrated: false)
        return ""
      } catch { return error.description }
    }
    let begin = "cannot use the head tracking of Head Tracker: "
    let clock = ContinuousClock()
    let begun = clock.now
    #expect(failure() == begin + "it does not answer; reconnect the tracker")
    #expect(clock.now - begun > .milliseconds(590))
    // A tracker that does not answer is switched off again.
    #expect(ports.change { $0.written } == Self.begin + Self.stop)
    ports.change { $0.failure = "busy" }
    #expect(failure() == begin + "busy")
    ports.change { $0.obstacle = "no permission" }
    let listed = provider.trackers(detailed: false)
    #expect(listed.first?.access == .failed("no permission"))
    ports.change { $0.ports = [] }
    #expect(failure() == begin + "its MIDI port is gone; reconnect the tracker")
  }

  // MARK: Use

  @Test("A Supperware is found, started, watched, lost by silence and by unplugging, found again")
  func supperware() throws {
    let ports = FakePorts()
    answering(ports)
    let (events, samples) = (Events(), Samples())
    let session = TrackerSession(
      .automatic, feeding: HeadPoseSource(), settings: settings(ports), onEvent: events.add,
      record: samples.add)
    session.start()
    defer { session.stop() }
    #expect(waitUntil(seconds: 5) { events.all == [.waiting] })
    ports.change { $0.ports = [Self.supperware] }
    #expect(waitUntil(seconds: 5) { session.tracker?.name == "Head Tracker" })
    #expect(ports.change { $0.written } == Self.begin)

    try watch(ports, samples, step: 10_000) { SupperwareMessages.quaternion($0) }

    // No message for 600 ms.
    ports.change { $0.answer = { _ in [] } }
    #expect(waitUntil(seconds: 5) { events.losses == 1 })
    #expect(waitUntil(seconds: 5) { !events.failures.isEmpty })
    #expect(events.failures[0].hasSuffix("it does not answer; reconnect the tracker"))
    answering(ports)
    #expect(waitUntil(seconds: 5) { events.connections == 2 })
    // The port disappears.
    ports.change { $0.ports = [] }
    #expect(waitUntil(seconds: 5) { events.losses == 2 })
    ports.change {
      $0.written = []
      $0.ports = [Self.supperware]
    }
    #expect(waitUntil(seconds: 5) { events.connections == 3 })
    session.stop()
    #expect(ports.change { $0.written }.last == Self.stop[0])
  }

  @Test("A MrHeadTracker of each form is watched", arguments: MrHeadTrackerMessages.Form.allCases)
  func mrHeadTracker(form: MrHeadTrackerMessages.Form) throws {
    let ports = FakePorts([Self.mrHeadTracker])
    var midi = MIDISettings()
    midi.mrHeadTracker.isInverse = form == .anglesInverse
    let (events, samples) = (Events(), Samples())
    let session = TrackerSession(
      .id("mrhead"), feeding: HeadPoseSource(), settings: settings(ports, midi),
      onEvent: events.add, record: samples.add)
    session.start()
    defer { session.stop() }
    #expect(waitUntil(seconds: 5) { session.tracker != nil })
    var device = MrHeadTrackerMessages(form)
    // The form is known after 20 samples.
    for step in 0..<60 {
      ports.send(device.bytes(lookingAround(Double(step) * 0.05)))
      usleep(10_000)
    }
    #expect(waitUntil(seconds: 5) { !samples.all.isEmpty })
    try watch(ports, samples, step: 10_000) { device.bytes($0) }

    // A tracker that keeps still is not lost, and its pose is repeated.
    samples.clear()
    usleep(1_200_000)
    let still = samples.all
    #expect(session.tracker != nil && events.losses == 0)
    #expect(still.count > 10)
    #expect(still.allSatisfy { $0.headToWorld == still[0].headToWorld })
    #expect(zip(still, still.dropFirst()).allSatisfy { $1.time > $0.time })
    #expect(zip(still, still.dropFirst()).allSatisfy { $1.time - $0.time < 500_000_000 })

    ports.change { $0.ports = [] }
    #expect(waitUntil(seconds: 5) { events.losses == 1 })
    ports.change { $0.ports = [Self.mrHeadTracker] }
    #expect(waitUntil(seconds: 5) { events.connections == 2 })
  }

  /// Sends heads and checks that the session's samples are these heads within 0.2 degrees, in
  /// order. Each head is sent in two packets, with real-time bytes between.
  private func watch(
    _ ports: FakePorts, _ samples: Samples, step: UInt32, _ bytes: (Quaternion) -> [UInt8]
  ) throws {
    samples.clear()
    var sent: [Quaternion] = []
    for index in 0..<150 {
      let head = lookingAround(Double(index) * 0.05)
      sent.append(head)
      let message = bytes(head)
      let cut = message.count / 2
      ports.send(message.prefix(cut) + [0xF8])
      ports.send([0xFE] + message.dropFirst(cut))
      usleep(step)
    }
    #expect(waitUntil(seconds: 5) { samples.all.last.map { angle($0, sent[149]) < 0.2 } ?? false })
    let found = samples.all
    #expect(found.count > 50)
    var at = 0
    for sample in found.drop(while: { angle($0, sent[0]) > 0.2 }) {
      let next = try #require(
        sent[at...].firstIndex { angle(sample, $0) < 0.2 }, "no head was sent like this one")
      at = next
    }
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  private func angle(_ sample: HeadSample, _ head: Quaternion) -> Double {
    Quaternion.angle(between: sample.headToWorld, head) * degreesPerRadian
  }

  @Test("Three poses of a tracker that is worn askew give its mounting and its conventions")
  func calibrates() throws {
    for isInverse in [false, true] {
      let ports = FakePorts([Self.mrHeadTracker])
      let provider = MIDITrackers(system: ports)
      let tracker = try #require(provider.trackers(detailed: false).first)
      var connection = try provider.connect(tracker, isCalibrated: true)
      let askew = YawPitchRoll(yaw: 25, pitch: -15, roll: 170).quaternion
      let truth = YawPitchRoll(yaw: 50, pitch: 10, roll: -5).quaternion
      let poses = [
        Quaternion.identity, YawPitchRoll(yaw: 0, pitch: 35, roll: 0).quaternion,
        YawPitchRoll(yaw: 90, pitch: 0, roll: 0).quaternion, truth,
      ]
      var device = MrHeadTrackerMessages(.quaternion)
      var delivered: [Quaternion] = []
      for pose in poses {
        let sensor = pose * askew
        ports.send(device.bytes(isInverse ? sensor.conjugate : sensor))
        delivered.append(try newest(&connection))
      }
      let finding = try MountingFinding(
        ahead: delivered[0], up: delivered[1], left: delivered[2])
      // Without a calibration, the inverse is expected.
      #expect(finding.mounting.isInverse == !isInverse)
      let relative =
        finding.mounting.headToWorld(delivered[0]).conjugate
        * finding.mounting.headToWorld(delivered[3])
      #expect(Quaternion.angle(between: relative, truth) * degreesPerRadian < 0.2)
      connection.close()
    }
  }

  private func newest(_ connection: inout any TrackerConnection) throws -> Quaternion {
    var found: Quaternion?
    let end = monotonic_nanoseconds() + 60_000_000
    while monotonic_nanoseconds() < end {
      guard case .readings(let readings, 0) = connection.listen(timeoutMilliseconds: 5) else {
        continue
      }
      found = readings.heads.last ?? found
    }
    return try #require(found)
  }
}
