// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import System
import TestSupport
import Testing

@testable import MIDITracking

/// The computer's ports: lists of the kernel in a folder, and raw MIDI devices that are
/// pseudo-terminals.
@Suite(.serialized) struct SystemPortsTests {
  @Test("The sequencer's list gives the ports from which a program can read")
  func clients() {
    let ports = SequencerClients.ports(SimulatedCard.clients)
    #expect(
      ports.map(\.name) == [
        "Timer", "Announce", "Midi Through Port-0", "Head Tracker MIDI 1", "out",
      ])
    #expect(ports.map(\.card) == [nil, nil, nil, 3, nil])
    #expect(ports[3].client == "Head \"quoted\" (R) Tracker")
    #expect(ports[3].place == .sequencer(client: 28, port: 0))
    #expect(ports[4].path == "midi:129:2")
    #expect(SequencerClients.ports("Client : \"\n  Port 0 : \"x\" (R\nPort 1 : \"x\" (R").isEmpty)
  }

  @Test("Ports of USB cards have the numbers of the device, with and without a sequencer")
  func lists() throws {
    let identity = USBIdentity(vendorID: 0x1D6B, productID: 0x0106, serial: "S1")
    let sequencer = try SimulatedCard(hasSequencer: true)
    #expect(sequencer.ports.ports().map(\.usb) == [nil, nil, nil, identity, nil])
    let raw = try SimulatedCard(hasSequencer: false)
    #expect(
      raw.ports.ports() == [
        MIDIPort(
          client: "Head Tracker", name: "MIDI one",
          place: .raw(path: raw.node), card: 3, usb: identity)
      ])
    let found = MIDITrackers(system: raw.ports).trackers(detailed: false)
    #expect(found.map(\.serial) == ["S1"] && found.map(\.bus) == [.usb])
  }

  @Test("Listing is fast, and loads no library")
  func listsWithoutLibrary() throws {
    let card = try SimulatedCard(hasSequencer: true)
    let wasLoaded = Self.isLibraryLoaded
    let clock = ContinuousClock()
    let begun = clock.now
    for _ in 0..<100 {
      #expect(MIDITrackers(system: card.ports).trackers(detailed: false).count == 2)
      _ = MIDITrackers().trackers(detailed: true)
    }
    #expect(clock.now - begun < .seconds(10))
    #expect(Self.isLibraryLoaded == wasLoaded)
  }

  /// Another test may have loaded it before.
  private static var isLibraryLoaded: Bool {
    let maps = (try? SystemFile.contents("/proc/self/maps", limit: 1 << 22)) ?? []
    return String(decoding: maps, as: UTF8.self).contains("libasound")
  }

  @Test("A device that cannot be opened gives the reason and advice")
  func reasons() throws {
    let folder = TemporaryFolder()
    #expect(RawMIDILink.reason(EBUSY, "/dev/x").contains("another program"))
    #expect(RawMIDILink.reason(EACCES, "/dev/x").contains("usermod -aG audio"))
    #expect(throws: MIDIError(reason: "\(folder.file("no")): No such file or directory")) {
      try RawMIDILink(folder.file("no"))
    }
    let ports = SystemPorts(deviceFolder: folder.path)
    let port = FakePorts.port(28, "Head Tracker")
    #expect(ports.obstacle(port) == nil)
    #expect(throws: MIDIError.self) { try ports.open(port) }
  }

  @Test("A FIFO that delivers bytes and ends is read as a device that is unplugged")
  func fifo() throws {
    let folder = TemporaryFolder()
    let path = folder.file("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let link = try RawMIDILink(path)
    #expect(link.read(timeoutNanoseconds: 1_000_000) == .nothing)
    // The link has opened the FIFO for writing, too.
    try link.write([0xF0, 0x01, 0xF7])
    #expect(link.read(timeoutNanoseconds: 1_000_000_000) == .bytes([0xF0, 0x01, 0xF7]))
    #expect(link.read(timeoutNanoseconds: 1_000_000) == .nothing)
  }

  @Test("A Supperware on a raw MIDI device is found, watched, lost, found again and stopped")
  func rawDevice() throws {
    let card = try SimulatedCard(hasSequencer: false)
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    settings.providers = [MIDITrackers(system: card.ports)]
    let (events, samples) = (Events(), Samples())
    let session = TrackerSession(
      .id("S1"), feeding: HeadPoseSource(), settings: settings, onEvent: events.add,
      record: samples.add)
    session.start()
    defer { session.stop() }
    for round in 1...2 {
      let device = try RawDevice(card.node)
      #expect(device.received(Supperware().startMessages.flatMap(\.self)))
      let head = YawPitchRoll(yaw: Double(round) * 20, pitch: 10, roll: 5).quaternion
      device.send(SupperwareMessages.quaternion(head))
      #expect(waitUntil(seconds: 5) { events.connections == round })
      for _ in 0..<20 {
        device.send(SupperwareMessages.quaternion(head))
        usleep(10_000)
      }
      #expect(waitUntil(seconds: 5) { samples.all.count > 10 })
      let error = try Quaternion.angle(between: #require(samples.all.last).headToWorld, head)
      #expect(error * degreesPerRadian < 0.2)
      samples.clear()
      if round == 2 {
        session.stop()
        #expect(device.received(Supperware().stopMessages.flatMap(\.self)))
      }
      device.unplug()
      #expect(waitUntil(seconds: 5) { events.losses == 1 })
    }
  }
}
