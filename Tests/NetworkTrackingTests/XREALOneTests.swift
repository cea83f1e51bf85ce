// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import Synchronization
import TestSupport
import Testing

@testable import NetworkTracking

/// XREAL One glasses: their stream, and simulated glasses on the loopback interface.
@Suite(.serialized) struct XREALOneTests {
  private typealias Vector = SIMD3<Double>

  /// Encodes a frame; the vectors are in the sensor's axes.
  private func frame(_ time: UInt64, rate: Vector, force: Vector) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0x36, 0, 0, 0, 0x80] + [UInt8](repeating: 0, count: 128)
    func put(_ bytes: [UInt8], at: Int) {
      frame.replaceSubrange(at..<at + bytes.count, with: bytes)
    }
    func floats(_ v: Vector) -> [UInt8] {
      (0..<3).flatMap { [UInt8].bytes(Float(v[$0]).bitPattern) }
    }
    put([UInt8].bytes(UInt32(truncatingIfNeeded: time)), at: 14)
    put([UInt8].bytes(UInt32(truncatingIfNeeded: time >> 32)), at: 18)
    put(floats(rate), at: 34)
    put(floats(force), at: 46)
    put([0x00, 0x40, 0x1F, 0x00, 0x00, 0x40], at: 78)
    return frame
  }

  /// A head that looks around.
  private func head(_ t: Double) -> Quaternion {
    YawPitchRoll(
      yaw: 40 * sin(2 * .pi * 0.2 * t), pitch: 20 * sin(2 * .pi * 0.31 * t),
      roll: 15 * sin(2 * .pi * 0.23 * t)
    ).quaternion
  }

  private func rate(_ t: Double) -> Vector {
    (head(t - 1e-4).conjugate * head(t + 1e-4)).rotationVector / 2e-4
  }

  private func force(_ t: Double) -> Vector {
    head(t).conjugate.rotate(Vector(0, 0, standardGravity))
  }

  /// The statements about the axes: from the head's axes to the sensor's.
  private static let conventions: [(name: String, axes: @Sendable (Vector) -> Vector)] = [
    ("right, up, back", { Vector(-$0.y, $0.z, -$0.x) }),
    ("right, front, up", { Vector(-$0.y, $0.x, $0.z) }),
    ("left, front, down", { Vector($0.y, $0.x, -$0.z) }),
  ]

  @Test("The pose is within 0.2 degrees of the head, whichever statement about the axes holds")
  func pose() {
    for (name, axes) in Self.conventions {
      var stream = XREALOneStream(axes: nil)
      var filter = OrientationFilter()
      var samples = 0
      var worst = 0.0
      var first: Double?
      for step in 0..<20_000 {
        let t = Double(step) * 1e-3
        let bytes = frame(UInt64(step) * 1_000_000, rate: axes(rate(t)), force: axes(force(t)))
        let now = 1_000_000_000 + Int64(step) * 1_000_000
        for case .inertial(let sample) in stream.decode(bytes, arrival: now).readings {
          filter.update(sample)
          samples += 1
          // The filter's front is where the head looked first.
          let yaw = YawPitchRoll(head(t)).yaw - YawPitchRoll(filter.orientation).yaw
          first = first ?? yaw
          let front = YawPitchRoll(yaw: first ?? 0, pitch: 0, roll: 0).quaternion
          worst = max(worst, Quaternion.angle(between: front * filter.orientation, head(t)))
        }
      }
      #expect(samples == 19_951)
      #expect(worst * degreesPerRadian < 0.2, "\(name): \(worst * degreesPerRadian)")
    }
  }

  @Test("Frames that are split or merged in any way give the same readings")
  func splits() {
    let frames = (0..<120).map { step in
      frame(
        UInt64(step) * 1_000_000, rate: Vector(Double(step), 0, 0), force: Vector(0, 9.8, 0))
    }
    let bytes = frames.flatMap(\.self)
    func rates(_ pieces: [[UInt8]]) -> [Vector] {
      var stream = XREALOneStream(axes: .rightUpBack)
      return pieces.flatMap { stream.decode($0, arrival: 1_000_000_000).readings }.compactMap {
        if case .inertial(let sample) = $0 { sample.angularVelocity } else { nil }
      }
    }
    let expected = rates(frames)
    #expect(expected.count == 120)
    var generator = SeededGenerator(5)
    for _ in 0..<50 {
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = min(rest.count, Int.random(in: 1...500, using: &generator))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(rates(pieces) == expected)
    }
    // A stream that begins within a frame, or loses bytes, is in step again with the next frame.
    #expect(rates([Array(bytes.dropFirst(50))]) == Array(expected.dropFirst()))
  }

  @Test("Damaged frames are counted, and frames of other sensors are skipped")
  func damage() {
    var stream = XREALOneStream(axes: .rightUpBack)
    let good = frame(1, rate: .zero, force: Vector(0, 9.8, 0))
    var other = good
    other[80] = 0
    #expect(stream.decode(other, arrival: 1).readings.isEmpty)
    #expect(stream.decode(frame(2, rate: Vector(.nan, 0, 0), force: .zero), arrival: 2).1 == 1)
    let noise = stream.decode([UInt8](repeating: 0x55, count: 1000), arrival: 3)
    #expect(noise.readings.isEmpty && noise.rejectedCount == 1)
    #expect(stream.decode(good, arrival: 4).readings.count == 1)
  }

  // MARK: Glasses on the loopback interface

  private func glasses(
    _ product: UInt16 = 0x0438, addresses: [String] = ["127.0.0.1"]
  ) -> USBNetworkInterface {
    USBNetworkInterface(
      name: "enx1", vendorID: 0x3318, productID: product, serial: "G1", addresses: addresses)
  }

  private func provider(
    _ port: Int, _ interfaces: @escaping @Sendable () -> [USBNetworkInterface]
  ) -> XREALOneTrackers {
    XREALOneTrackers(
      at: XREALOneTrackers.Place(
        address: "127.0.0.1", port: port, network: "127.0.0.", interfaces: interfaces))
  }

  @Test("Glasses are listed by their USB numbers; without an address the reason is given")
  func lists() throws {
    let found = [
      glasses(0x0438), glasses(0x0436), glasses(0x043E, addresses: ["10.0.0.1"]),
      glasses(0x0437), USBNetworkInterface(name: "eth1", vendorID: 1, productID: 0x0438),
    ]
    let trackers = provider(1) { found }.trackers(detailed: false)
    #expect(trackers.map(\.name) == ["XREAL One", "XREAL One Pro", "XREAL 1S"])
    #expect(trackers.map { $0.access == .ready } == [true, true, false])
    let problem = try #require(trackers[2].accessError?.description)
    #expect(problem.contains("sudo ip address add 127.0.0.10/24 dev enx1"))
    #expect(!problem.contains("\n"))
  }

  @Test("The interfaces of USB devices are found in sysfs")
  func interfaces() throws {
    let folder = TemporaryFolder()
    let device = folder.file("devices/3-1")
    for path in ["devices/3-1/3-1:1.0/net", "class/enx1", "class/lo"] {
      try #require(system("mkdir -p '\(folder.file(path))'") == 0)
    }
    let texts = [("idVendor", "3318"), ("idProduct", "0436"), ("serial", "S\u{1B}1")]
    for (name, text) in texts { _ = try folder.write(text + "\n", to: "devices/3-1/\(name)") }
    try #require(symlink(device + "/3-1:1.0", folder.file("class/enx1/device")) == 0)
    let found = USBNetworkInterface.all(in: folder.file("class"))
    #expect(
      found == [
        USBNetworkInterface(name: "enx1", vendorID: 0x3318, productID: 0x0436, serial: "S1")
      ])
    #expect(USBNetworkInterface.all(in: "/nonexistent").isEmpty)
  }

  @Test("Glasses are found, connected, watched, lost and found again")
  func steps() throws {
    let server = try LoopbackServer()
    let isPlugged = Mutex(false)
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    let interface = glasses()
    settings.providers = [
      provider(server.port) { isPlugged.withLock { $0 ? [interface] : [] } }
    ]
    let measured = Mutex<[TrackerMeasurement]>([])
    let session = TrackerSession(
      .automatic, feeding: HeadPoseSource(), settings: settings,
      record: { measurement in measured.withLock { $0.append(measurement) } })
    session.start()
    defer { session.stop() }
    #expect(!waitUntil(seconds: 0.5) { session.tracker != nil })
    isPlugged.withLock { $0 = true }
    for round in 1...2 {
      #expect(waitUntil(seconds: 5) { session.tracker?.name == "XREAL One" })
      #expect(waitUntil(seconds: 5) { server.connections == round })
      measured.withLock { $0 = [] }
      // A head at rest, 30 degrees nose up.
      let axes = Self.conventions[0].axes
      let tilted = axes(Vector(standardGravity / 2, 0, standardGravity * 0.8660254))
      for step in 0..<300 {
        let bytes = frame(UInt64(step) * 1_000_000, rate: .zero, force: tilted)
        server.send(Array(bytes.prefix(60)))
        server.send(Array(bytes.dropFirst(60)))
        usleep(1000)
      }
      #expect(waitUntil(seconds: 5) { measured.withLock { $0.count } > 200 })
      let last = YawPitchRoll(try #require(measured.withLock { $0.last?.head.headToWorld }))
      #expect(abs(last.pitch - 30) < 0.2 && abs(last.roll) < 0.2 && abs(last.yaw) < 0.2)
      server.hangUp()
      #expect(waitUntil(seconds: 5) { session.tracker == nil || server.connections > round })
    }
  }

  @Test("A refused connection is tried again after two seconds, not before")
  func retries() throws {
    let port = try LoopbackServer().port
    let interface = glasses()
    let provider = provider(port) { [interface] }
    let tracker = try #require(provider.trackers(detailed: false).first)
    let clock = ContinuousClock()
    let begun = clock.now
    #expect(throws: HeadTrackingError.self) { try provider.connect(tracker, isCalibrated: false) }
    let server = try LoopbackServer(port: port)
    var connection: (any TrackerConnection)?
    while connection == nil, clock.now - begun < .seconds(10) {
      connection = try? provider.connect(tracker, isCalibrated: false)
      usleep(10_000)
    }
    #expect((2..<5).contains((clock.now - begun) / .seconds(1)))
    #expect(waitUntil(seconds: 5) { server.connections == 1 })
    // After two seconds without a byte, the session gives the connection up.
    connection?.restart()
    guard case .gone = connection?.listen(timeoutMilliseconds: 10) else {
      Issue.record("not gone")
      return
    }
  }
}
