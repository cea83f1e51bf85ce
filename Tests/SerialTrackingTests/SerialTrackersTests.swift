// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import Synchronization
import System
import TestSupport
import Testing

@testable import SerialTracking

/// Serial trackers that pseudo-terminals simulate, with a simulated sysfs.
@Suite(.serialized) struct SerialTrackersTests {
  /// Folders in which the kernel would list the ports.
  private struct Ports {
    let folder = TemporaryFolder()

    var place: SerialNode.Place {
      SerialNode.Place(classFolder: folder.file("class"), deviceFolder: folder.file("dev"))
    }

    init() throws {
      try #require(system("mkdir -p '\(folder.file("class"))' '\(folder.file("dev"))'") == 0)
    }

    /// Connects a device on USB whose node leads to a terminal.
    func plug(_ name: String, _ terminal: String, vendor: String, product: String) throws {
      // A converter has one folder more than a device of the communication class.
      let below = name.hasPrefix("ttyUSB") ? "/\(name)" : ""
      let device = "devices/usb1/1-\(name)"
      let interface = "\(device)/1-1:1.0\(below)"
      try #require(
        system("mkdir -p '\(folder.file(interface))' '\(folder.file("class/\(name)"))'") == 0)
      let texts = [
        ("idVendor", vendor), ("idProduct", product), ("serial", "S-\(name)"),
        ("product", "Board\u{1B} \(name) "),
      ]
      for (file, text) in texts { _ = try folder.write(text + "\n", to: "\(device)/\(file)") }
      try #require(
        symlink(folder.file(interface), folder.file("class/\(name)/device")) == 0)
      try #require(symlink(terminal, folder.file("dev/\(name)")) == 0)
    }

    func unplug(_ name: String) throws {
      try #require(
        system("rm -r '\(folder.file("class/\(name)"))' '\(folder.file("dev/\(name)"))'") == 0)
    }
  }

  private func profile(_ extra: String = "") throws -> TrackerProfile {
    let text = """
      { "schema": 1, "name": "board", "link": "serial", "vendor": "2341", "product": "8036",
        "serial": { "baud": 115200 }, "frame": { "text": "{w},{x},{y},{z}", "separator": ";" },
        \(extra)
        "signals": { "quaternionW": { "name": "w" }, "quaternionX": { "name": "x" },
          "quaternionY": { "name": "y" }, "quaternionZ": { "name": "z" } } }
      """
    return try #require(ProfileReader.read(Array(text.utf8)).profile)
  }

  private func frame(_ head: Quaternion) -> String {
    [head.w, head.x, head.y, head.z].map { "\(($0 * 1e6).rounded() / 1e6)" }.joined(separator: ",")
      + ";"
  }

  @Test("Only ports with the vendor and product of a profile are listed; nothing is opened")
  func lists() throws {
    let ports = try Ports()
    let terminals = try (0..<3).map { _ in try PseudoTerminal() }
    try ports.plug("ttyACM0", terminals[0].path, vendor: "2341", product: "8036")
    try ports.plug("ttyACM1", terminals[1].path, vendor: "2341", product: "0042")
    try ports.plug("ttyUSB0", terminals[2].path, vendor: "2341", product: "8036")
    let settings = TrackerSettings(profiles: [try profile()])
    let provider = SerialTrackers(settings, named: nil, in: ports.place)
    let trackers = provider.trackers(detailed: false)
    #expect(trackers.map(\.product) == ["Board ttyACM0", "Board ttyUSB0"])
    #expect(trackers.map(\.serial) == ["S-ttyACM0", "S-ttyUSB0"])
    #expect(trackers.allSatisfy { $0.access == .ready && $0.bus == .usb && $0.levelsItself })
    #expect(
      trackers[0].udevRule
        == "SUBSYSTEM==\"tty\", ATTRS{idVendor}==\"2341\", ATTRS{idProduct}==\"8036\", "
        + "TAG+=\"uaccess\", ENV{ID_MM_PORT_IGNORE}=\"1\"")
    let own = "/proc/self/fd"
    let open = (SystemFile.names(in: own) ?? []).compactMap { SystemFile.resolved("\(own)/\($0)") }
    #expect(!terminals.contains { open.contains($0.path) })
    // A profile without a product, or for another link, finds nothing.
    var vague = try profile()
    vague.productID = nil
    for profiles in [[vague], []] {
      let none = SerialTrackers(TrackerSettings(profiles: profiles), named: nil, in: ports.place)
      #expect(none.trackers(detailed: false).isEmpty)
    }
  }

  @Test("A missing permission names the group and the rule")
  func permission() throws {
    var tracker = TrackerDescription(
      path: "/dev/ttyACM0", vendorID: 0x2341, productID: 0x8036, serial: "", manufacturer: "",
      product: "", bus: .usb, protocolDescription: "", kind: .head, access: .permissionDenied,
      id: "")
    tracker.isSerialPort = true
    let text = try #require(tracker.accessError?.description)
    let rule = try #require(tracker.udevRule)
    #expect(text.contains("dialout") && text.contains(rule) && !text.contains("\n"))
    tracker.vendorID = 0
    #expect(tracker.accessError?.description.contains("SUBSYSTEM") == false)
    #expect(tracker.udevRule == nil)
  }

  @Test("The ID of a named port may contain colons")
  func parts() throws {
    let found = try #require(SerialTrackers.parts("serial:/dev/serial/by-path/pci-0:1:nvsonic"))
    #expect(found == ("/dev/serial/by-path/pci-0:1", "nvsonic"))
    for bad in ["serial:", "serial:x", "serial:/dev/x:", "serial::x", "tcp:a:b"] {
      #expect(SerialTrackers.parts(bad) == nil, "\(bad)")
    }
  }

  @Test("A tracker is found, started, watched within 0.2 degrees, lost, and found again")
  func steps() throws {
    let ports = try Ports()
    var settings = TrackerSettings(
      profiles: [
        try profile(
          """
          "start": { "text": ["go"] }, "stop": { "bytes": ["53"] },
          "keepAlive": { "bytes": ["4B"], "seconds": 0.2 },
          """)
      ], sensorFolder: "/nonexistent")
    settings.capture = FrameCapture()
    settings.providers = [SerialTrackers(settings, named: nil, in: ports.place)]
    let measured = Mutex<[TrackerMeasurement]>([])
    let session = TrackerSession(
      .automatic, feeding: HeadPoseSource(), settings: settings,
      record: { measurement in measured.withLock { $0.append(measurement) } })
    session.start()
    defer { session.stop() }
    for round in 1...2 {
      var terminal: PseudoTerminal? = try PseudoTerminal()
      try ports.plug("ttyACM\(round)", try #require(terminal).path, vendor: "2341", product: "8036")
      #expect(waitUntil(seconds: 20) { session.tracker?.product == "Board ttyACM\(round)" })
      var sent: [UInt8] = []
      #expect(
        waitUntil(seconds: 20) {
          sent += terminal?.received() ?? []
          return sent.count { $0 == 0x4B } >= 2
        })
      #expect(sent.starts(with: Array("goK".utf8)))
      measured.withLock { $0 = [] }
      terminal?.send("rest;")
      for step in 0..<100 {
        let head = YawPitchRoll(yaw: Double(step), pitch: 10, roll: -5).quaternion
        let text = frame(head)
        terminal?.send(String(text.prefix(9)))
        usleep(2000)
        terminal?.send(String(text.dropFirst(9)))
        usleep(2000)
      }
      #expect(waitUntil(seconds: 20) { measured.withLock { $0.count } == 100 })
      let heads = measured.withLock { $0.map(\.head.headToWorld) }
      for (step, head) in heads.enumerated() {
        let wanted = YawPitchRoll(yaw: Double(step), pitch: 10, roll: -5).quaternion
        #expect(Quaternion.angle(between: head, wanted) * 180 / .pi < 0.2)
      }
      if round == 1 {
        terminal = nil
        try ports.unplug("ttyACM1")
        #expect(waitUntil(seconds: 20) { session.tracker == nil })
      } else {
        session.stop()
        sent = []
        #expect(
          waitUntil(seconds: 5) {
            sent += terminal?.received() ?? []
            return sent.last == 0x53
          })
      }
    }
    let frames = settings.capture?.take() ?? []
    #expect(frames.contains { $0.direction == .sent && $0.bytes == Array("go".utf8) })
    #expect(frames.filter { $0.direction == .received }.flatMap(\.bytes).count > 100 * 15)
    #expect(settings.capture?.source == "profile:board")
  }

  @Test("A port that another program uses exclusively, or that is no port, is refused in one line")
  func refuses() throws {
    let terminal = try PseudoTerminal()
    let settings = TrackerSettings()
    func provider(_ path: String) throws -> SerialTrackers {
      let port = SerialTrackers.NamedPort(path: path, profile: try profile())
      return SerialTrackers(settings, named: ("serial:x", port), in: try Ports().place)
    }
    let named = try provider(terminal.path)
    let tracker = try #require(named.trackers(detailed: false).first)
    #expect(tracker.path == "serial:x" && tracker.bus == .serial)
    let first = try named.connect(tracker, isCalibrated: false)
    #expect(throws: Never.self) { _ = first }
    // Root may open an exclusive port.
    if geteuid() != 0 {
      #expect { try named.connect(tracker, isCalibrated: false) } throws: {
        "\($0)".contains("another program uses it")
      }
    }
    let folder = TemporaryFolder()
    let file = try provider(try folder.write("x", to: "file"))
    #expect { try file.connect(file.trackers(detailed: false)[0], isCalibrated: false) } throws: {
      "\($0)".contains("it is not a serial port")
    }
    #expect(try provider("/nonexistent").trackers(detailed: false).isEmpty)
  }

  @Test("The start bytes wait for a board that resets")
  func delay() throws {
    let terminal = try PseudoTerminal()
    let slow = try profile("\"start\": { \"delay\": 300, \"text\": [\"go\"] },")
    let port = SerialTrackers.NamedPort(path: terminal.path, profile: slow)
    let provider = SerialTrackers(
      TrackerSettings(), named: ("serial:x", port), in: try Ports().place)
    var connection = try provider.connect(
      provider.trackers(detailed: false)[0], isCalibrated: false)
    let clock = ContinuousClock()
    let begun = clock.now
    #expect(terminal.received().isEmpty)
    #expect(
      waitUntil(seconds: 10) {
        _ = connection.listen(timeoutMilliseconds: 10)
        return terminal.received() == Array("go".utf8)
      })
    #expect(clock.now - begun > .milliseconds(280))
  }
}
