// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import NetworkTracking
import Synchronization
import TestSupport
import Testing

/// Tests reception with real datagrams over the loopback interface.
@Suite(.serialized) struct ReceptionTests {
  /// Returns a UDP port that is currently unused.
  private func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    try #require(result)
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  private func send(_ bytes: [UInt8], to host: String = "127.0.0.1", port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Sends repeatedly until the newest sample is `head`; records an issue after 2 s.
  private func expect(_ head: Quaternion, from source: HeadPoseSource, _ send: () -> Void) {
    for _ in 0..<200 {
      send()
      usleep(10_000)
      if let sample = source.status.latestSample,
        Quaternion.angle(between: sample.headToWorld, head) < 1e-5
      {
        return
      }
    }
    Issue.record("the pose did not arrive: \(String(describing: source.status.latestSample))")
  }

  @Test(arguments: OSCPreset.allCases) func poseIsSentAndReceivedOverUDP(preset: OSCPreset) throws {
    let port = try freePort()
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(NetworkTracker(.osc(preset), port: port), feeding: source)
    try session.start()
    defer { session.stop() }
    let sender = try OSCSender("osc://127.0.0.1:\(port)")
    for head in ConventionTests.heads {
      expect(head, from: source) { sender.send(preset.message(for: head)) }
    }
  }

  /// Builds the OSC message from the specification, independently of liblo.
  @Test func specificationMessagesAreReceivedAndOthersRejected() throws {
    var random = SeededGenerator.forTest()
    let port = try freePort()
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(NetworkTracker(.osc(.ypr), port: port), feeding: source)
    try session.start()
    defer { session.stop() }
    let floats = [Float(30), 20, -10].flatMap { value in
      withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
    }
    let message = Array("/ypr\0\0\0\0,fff\0\0\0\0".utf8) + floats
    expect(YawPitchRoll(yaw: 30, pitch: 20, roll: -10).quaternion, from: source) {
      send(message, port: port)
    }
    let rejected = source.status.rejectedCount
    for length in [0, 1, 7, 64, 1500] {
      send((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }, port: port)
    }
    send(Array("/volume\0,i\0\0".utf8) + [0, 0, 0, 1], port: port)
    expect(YawPitchRoll(yaw: 30, pitch: 20, roll: -10).quaternion, from: source) {
      send(message, port: port)
    }
    #expect(source.status.rejectedCount > rejected)
  }

  @Test func opentrackAndFreepieDatagramsAreReceived() throws {
    let port = try freePort()
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(
      NetworkTracker(.opentrack(.rightUp), port: port), feeding: source)
    try session.start()
    let doubles = [0.0, 0, 0, -30, 20, 5].flatMap { value in
      withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
    }
    expect(YawPitchRoll(yaw: 30, pitch: 20, roll: 5).quaternion, from: source) {
      send(doubles, port: port)
    }
    session.stop()
    let freepieSession = NetworkTrackerSession(
      NetworkTracker(.freepie(.leftUp), port: port), feeding: source)
    try freepieSession.start()
    defer { freepieSession.stop() }
    let raw = [Float](repeating: 9, count: 9)
    let floats = (raw + [0.5, -0.25, 0.125]).flatMap { value in
      withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
    }
    let wanted = YawPitchRoll(
      yaw: 0.5 * degreesPerRadian, pitch: -0.25 * degreesPerRadian, roll: 0.125 * degreesPerRadian)
    expect(wanted.quaternion, from: source) { send([0, 3] + floats, port: port) }
  }

  private func datagram(yaw: Double) -> [UInt8] {
    [0.0, 0, 0, -yaw, 0, 0].flatMap { value in
      withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
    }
  }

  /// Sends to 127.0.0.2, which is another address of this computer than the loopback address.
  @Test(arguments: [
    ("", "127.0.0.1", true), ("", "127.0.0.2", false), ("any:", "127.0.0.2", true),
    ("127.0.0.2:", "127.0.0.2", true), ("127.0.0.2:", "127.0.0.1", false),
  ])
  func onlyTheGivenAddressIsListenedOn(address: String, target: String, isHeard: Bool) throws {
    for name in ["opentrack", "osc"] {
      let port = try freePort()
      let source = HeadPoseSource()
      let tracker = try #require(try NetworkTracker("\(name):\(address)\(port)"))
      let session = NetworkTrackerSession(tracker, feeding: source)
      try session.start()
      defer { session.stop() }
      let osc = Array("/yaw\0\0\0\0,i\0\0".utf8) + [0, 0, 0, 30]
      for _ in 0..<20 {
        send(name == "osc" ? osc : datagram(yaw: 30), to: target, port: port)
        usleep(10_000)
      }
      #expect((source.status.acceptedCount > 0) == isHeard)
    }
  }

  /// Sends to ::1; returns false if this computer has no IPv6.
  private func sendOverIPv6(_ bytes: [UInt8], port: Int) -> Bool {
    let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(port).bigEndian
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    } == bytes.count
  }

  @Test(arguments: ["opentrack:", "opentrack:any:", "opentrack:[::1]:"])
  func programsOnThisComputerAreHeardOverIPv6(start: String) throws {
    let port = try freePort()
    guard sendOverIPv6([0], port: port) else { return }
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(
      try #require(try NetworkTracker("\(start)\(port)")), feeding: source)
    try session.start()
    defer { session.stop() }
    expect(YawPitchRoll(yaw: 30, pitch: 0, roll: 0).quaternion, from: source) {
      _ = sendOverIPv6(datagram(yaw: 30), port: port)
    }
  }

  /// 203.0.113.1 is reserved for documentation.
  @Test func addressOfAnotherComputerIsReported() throws {
    let tracker = try #require(try NetworkTracker("osc:203.0.113.1:9000"))
    #expect(throws: NetworkTrackerError.notOurAddress("203.0.113.1:9000")) {
      try NetworkTrackerSession(tracker, feeding: HeadPoseSource()).start()
    }
  }

  @Test func silenceIsReportedOnceAfterFiveSeconds() throws {
    let (silent, heard) = (try freePort(), try freePort())
    let notes = Mutex<[String]>([])
    let sessions = [silent, heard].map { port in
      NetworkTrackerSession(
        NetworkTracker(.opentrack(.rightUp), port: port), feeding: HeadPoseSource(),
        onSilence: { note in notes.withLock { $0.append(note) } })
    }
    for session in sessions { try session.start() }
    defer { for session in sessions { session.stop() } }
    send(datagram(yaw: 30), port: heard)
    usleep(4_500_000)
    #expect(notes.withLock { $0 } == [])
    usleep(1_500_000)
    #expect(
      notes.withLock { $0 } == [
        "nothing has arrived at 127.0.0.1:\(silent); to receive from a phone or another computer, "
          + "use opentrack:any:\(silent)"
      ])
  }

  @Test func portInUseIsReported() throws {
    let port = try freePort()
    let source = HeadPoseSource()
    for sender in [NetworkTracker.Sender.opentrack(.rightUp), .osc(.ypr)] {
      let first = NetworkTrackerSession(NetworkTracker(sender, port: port), feeding: source)
      try first.start()
      let second = NetworkTrackerSession(NetworkTracker(sender, port: port), feeding: source)
      #expect {
        try second.start()
      } throws: {
        "\($0)".contains("cannot listen on 127.0.0.1:\(port)")
      }
      first.stop()
    }
  }

  @Test(arguments: [
    "", "localhost", "osc://", "osc://host", "osc://host:0", "http://h:1", "osc://:9",
    "osc://[::1]", "osc://h:9/path", "osc://a@b:9",
  ])
  func invalidTargetsAreRefused(url: String) {
    #expect(throws: NetworkTrackerError.badTarget(url)) { try OSCSender(url) }
  }

  @Test func unknownHostIsReported() {
    #expect(throws: NetworkTrackerError.unknownHost("no-such-host.invalid")) {
      try OSCSender("osc://no-such-host.invalid:9000")
    }
  }

  @Test(arguments: ["127.0.0.1", "[::1]"])
  func numericAddressesAreAccepted(host: String) throws {
    _ = try OSCSender("osc://\(host):9000/")
  }

  @Test func messagesWithoutAPoseAreReportedOnce() throws {
    let port = try freePort()
    let notes = Mutex<[String]>([])
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(
      NetworkTracker(.osc(.iem), port: port), feeding: source,
      onSilence: { note in notes.withLock { $0.append(note) } })
    try session.start()
    defer { session.stop() }
    let sender = try OSCSender("osc://127.0.0.1:\(port)")
    for _ in 0..<30 {
      sender.send(OSCMessage("/ypr", [1, 2, 3]))
      usleep(50_000)
    }
    let expected = """
      /ypr with 3 arguments arrived at 127.0.0.1:\(port), but the preset iem expects \
      /SceneRotator/quaternions with 4 numbers; choose another preset (ypr, quaternion, sparta, \
      iem, iem-ypr) or change the sender
      """
    #expect(notes.withLock { $0 } == [expected])
  }

  @Test func componentsThatYieldAPoseLaterAreNotReported() throws {
    let port = try freePort()
    let notes = Mutex<[String]>([])
    let source = HeadPoseSource()
    let session = NetworkTrackerSession(
      NetworkTracker(.osc(.quaternion), port: port), feeding: source,
      onSilence: { note in notes.withLock { $0.append(note) } })
    try session.start()
    defer { session.stop() }
    let sender = try OSCSender("osc://127.0.0.1:\(port)")
    for _ in 0..<30 {
      for (name, value) in [("/qw", 1.0), ("/qx", 0), ("/qy", 0), ("/qz", 0)] {
        sender.send(OSCMessage(name, [value]))
      }
      usleep(50_000)
    }
    #expect(notes.withLock { $0 } == [])
  }
}
