// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

@Suite struct AirPodsProtocolTests {
  @Test("The head is followed within 0.1 degrees, through w = 0 and any batches")
  func follows() {
    for batches in [[1], [2, 1, 3], [9], [1, 9, 4, 7]] {
      var exchange = Exchange(.init(batches: batches))
      exchange.run(seconds: 20)
      // Until the clock has seen a packet that was not late, times are inexact.
      let settled = exchange.samples.firstIndex { $0.time > 3_500_000_000 } ?? 0
      #expect(exchange.samples.count > 750)
      #expect(exchange.largestError(from: settled) < 0.1, "batches \(batches)")
    }
  }

  @Test("Every mounting gives the head's orientation, whatever the sign of w")
  func mountings() {
    var random = SeededGenerator.forTest()
    for _ in 0..<12 {
      var exchange = Exchange(mounting: randomTurn(using: &random))
      exchange.run(seconds: 8)
      let settled = exchange.samples.firstIndex { $0.time > 3_500_000_000 } ?? 0
      #expect(exchange.largestError(from: settled) < 0.1)
      #expect(Set(exchange.samples.map(\.discontinuityCount)).count == 1)
    }
  }

  @Test("The angular velocity is that of the head, in the head's axes")
  func angularVelocity() {
    var exchange = Exchange()
    exchange.run(seconds: 6)
    for sample in exchange.samples.suffix(100) {
      let seconds = Double(sample.time) * 1e-9
      let turn = Exchange.looking(seconds - 0.001).conjugate * Exchange.looking(seconds + 0.001)
      let error = turn.rotationVector / 0.002 - (sample.angularVelocity ?? .zero)
      #expect((error * error).sum().squareRoot() < 0.02)
    }
  }

  @Test("Reports that do not yet agree with gravity are left out")
  func unsettled() {
    var exchange = Exchange()
    exchange.run(seconds: 3)
    #expect(exchange.samples.count > 50)
    #expect(!exchange.samples.contains { $0.headToWorld == .identity })
  }

  @Test(
    "The sequence number and the form of the report do not matter",
    arguments: [UInt64(120), 16370, 2_097_140], [false, true])
  func sequence(first: UInt64, usesOlderForm: Bool) {
    var exchange = Exchange(.init(sequence: first, usesOlderForm: usesOlderForm))
    exchange.run(seconds: 5)
    #expect(exchange.samples.count > 150 && exchange.rejectedCount == 0)
  }

  @Test("Without a description the ids are tried in turn", arguments: [16, 15, 6, 14] as [UInt64])
  func ids(service: UInt64) throws {
    var exchange = Exchange(.init(service: service, describes: false))
    exchange.run(seconds: 11)
    #expect(!exchange.samples.isEmpty && !exchange.needsReopening)
    #expect(exchange.host.memory?.service == service)
    let starts = exchange.airPods.startTimes
    #expect(zip(starts.dropFirst(), starts).allSatisfy { $0 - $1 >= 2_000_000_000 })
    #expect(exchange.airPods.stopCount == starts.count - 1)
  }

  @Test("A description names the service, and an MTU of 672 still lets it through")
  func description() {
    for mtu in [672, 1691] {
      var exchange = Exchange(.init(service: 6, mtu: mtu))
      exchange.run(seconds: 2.5)
      #expect(exchange.airPods.startTimes.count == 1)
      #expect(exchange.host.memory?.mounting != nil)
    }
  }

  @Test("What was learnt starts the next link at once and with the same mounting")
  func memory() throws {
    var first = Exchange(.init(service: 15))
    first.run(seconds: 3)
    let memory = try #require(first.host.memory)
    var second = Exchange(
      .init(service: 15, describes: false), host: AirPodsProtocol(memory: memory))
    second.run(seconds: 8)
    #expect(second.airPods.startTimes.count == 1)
    let settled = second.samples.firstIndex { $0.time > 3_500_000_000 } ?? 0
    #expect(second.largestError(from: settled) < 0.1)
  }

  @Test("A silent start is repeated")
  func silentStart() {
    var exchange = Exchange(.init(acknowledged: [16], silentStarts: 1))
    exchange.run(seconds: 6)
    #expect(exchange.airPods.startTimes.count == 2)
    #expect(!exchange.samples.isEmpty && !exchange.needsReopening)
  }

  @Test("A start that streams at 1.6 Hz is repeated after a pause")
  func slowStart() {
    var exchange = Exchange(.init(slowStarts: 1))
    exchange.run(seconds: 8)
    #expect(exchange.airPods.startTimes.count == 2)
    #expect(exchange.samples.suffix(50).count == 50)
    let last = exchange.samples.suffix(50)
    #expect(Double((last.last?.time ?? 0) - (last.first?.time ?? 0)) * 1e-9 < 1.1)
  }

  @Test("A service whose start breaks the link is not started on the next link")
  func crash() throws {
    var exchange = Exchange(.init(crashesOnStart: true))
    exchange.run(seconds: 5)
    #expect(exchange.airPods.isBroken)
    exchange.host.lost(now: exchange.now)
    let memory = try #require(exchange.host.memory)
    #expect(memory.avoided == [16])
    var next = Exchange(.init(service: nil), host: AirPodsProtocol(memory: memory))
    next.run(seconds: 13)
    let started = next.airPods.received.compactMap { packet -> UInt8? in
      packet.starts(with: [4, 0, 4, 0, 0x17]) ? packet[17] : nil
    }
    #expect(!started.contains(16) && started.contains(15))
  }

  @Test("A description that arrives when no id is left to try is still followed")
  func lateDescription() {
    var memory = EarphoneMemory()
    memory.avoided = Set(ServiceStarter.knownServices)
    var starter = ServiceStarter(memory: memory)
    starter.open(now: 0)
    #expect(!starter.advance(now: 2_000_000_000, isWorn: true).isStart)
    starter.describe(7)
    #expect(starter.advance(now: 2_100_000_000, isWorn: true).isStart)
  }

  @Test("A link that yields no report for 12 s is opened again")
  func deadLink() {
    var exchange = Exchange(.init(service: nil))
    exchange.run(seconds: 20)
    #expect(exchange.needsReopening)
    #expect(abs(Double(exchange.now - 1_000_000_000) * 1e-9 - 12) < 0.2)
  }

  @Test("Out of both ears the pose is held; the return is a discontinuity")
  func ears() throws {
    var exchange = Exchange()
    exchange.run(seconds: 4)
    exchange.notify(SimulatedAirPods.ears(0, 1))
    #expect(!exchange.readings.contains(.worn(false)))
    exchange.notify(SimulatedAirPods.ears(1, 1))
    #expect(exchange.readings.last == .worn(false))
    let held = try #require(exchange.samples.last)
    let count = exchange.samples.count
    exchange.run(seconds: 2)
    let during = exchange.samples[count...]
    #expect(during.count > 20 && during.allSatisfy { $0.headToWorld == held.headToWorld })
    exchange.notify(SimulatedAirPods.ears(0, 1))
    #expect(exchange.readings.last == .worn(true))
    exchange.run(seconds: 1)
    #expect(exchange.samples.last?.discontinuityCount == held.discontinuityCount + 1)
    #expect(zip(exchange.samples.dropFirst(), exchange.samples).allSatisfy { $0.time > $1.time })
  }

  @Test("A stream that pauses out of the ears keeps its link, and starts again when they are worn")
  func pausedOut() {
    var exchange = Exchange()
    exchange.run(seconds: 4)
    exchange.notify(SimulatedAirPods.ears(2, 2))
    exchange.airPods.isPaused = true
    exchange.run(seconds: 60)
    #expect(!exchange.needsReopening)
    let starts = exchange.airPods.startTimes.count
    exchange.airPods.isPaused = false
    exchange.notify(SimulatedAirPods.ears(0, 0))
    let count = exchange.samples.count
    exchange.run(seconds: 6)
    #expect(exchange.samples.count > count + 50)
    #expect(exchange.airPods.startTimes.count <= starts + 1)
  }

  @Test("A service that broke the link is not remembered as the motion service")
  func avoidedService() {
    var memory = EarphoneMemory()
    memory.avoided = [16]
    var exchange = Exchange(.init(service: 16), host: AirPodsProtocol(memory: memory))
    exchange.run(seconds: 3)
    #expect(exchange.host.memory?.service != 16)
  }

  @Test("A jump of the reference frame and a step back of the clock are discontinuities")
  func jumps() {
    var exchange = Exchange()
    exchange.run(seconds: 4)
    exchange.airPods.world = YawPitchRoll(yaw: 60, pitch: 0, roll: 0).quaternion
    exchange.run(seconds: 2)
    #expect(exchange.samples.last?.discontinuityCount == 1)
    exchange.airPods.clockOffset -= 2_000_000
    exchange.run(seconds: 2)
    #expect(exchange.samples.last?.discontinuityCount == 2)
    #expect(zip(exchange.samples.dropFirst(), exchange.samples).allSatisfy { $0.time > $1.time })
  }

  @Test("It stops the stream at the end, and sends only opening packets, starts and stops")
  func sendsNothingElse() throws {
    var exchange = Exchange()
    exchange.run(seconds: 3)
    let last = try #require(exchange.host.close(now: exchange.now).last)
    #expect(Array(last.suffix(4)) == [0, 0, 0, 0])
    let opening = [AAPPacket.handshake, AAPPacket.features, AAPPacket.notifications]
    for packet in exchange.airPods.received where !opening.contains(packet) {
      #expect(packet.starts(with: [4, 0, 4, 0, 0x17, 0]))
    }
  }

  @Test("Taking over is asked for only if it is allowed; a stem press recentres only if it is set")
  func permissions() {
    var plain = Exchange()
    plain.run(seconds: 1)
    plain.notify([4, 0, 4, 0, 0x19, 0, 5, 1])
    #expect(!plain.airPods.received.contains(AAPPacket.takeOver))
    #expect(!plain.readings.contains(.recenterButton))
    let settings = AirPodsProtocol.Settings(takesOver: true, stemRecentres: true)
    var allowed = Exchange(host: AirPodsProtocol(settings: settings))
    allowed.notify([4, 0, 4, 0, 0x19, 0, 5, 1])
    #expect(allowed.airPods.received.contains(AAPPacket.takeOver))
    #expect(allowed.readings.contains(.recenterButton))
  }

  @Test("Battery and firmware are read from their notifications")
  func details() {
    var exchange = Exchange()
    exchange.notify(hex("040004000400 03 02 01 64 02 01 04 01 5A 01 01 08 01 00 04 01"))
    #expect(exchange.host.details.battery == ["right": 100, "left": 90])
    #expect(exchange.host.details.bud == "right")
    var information = hex("040004001D00 02D5000400")
    for text in ["My AirPods", "A3047", "Apple Inc.", "SERIAL", "7A305", "7A305"] {
      information += Array(text.utf8) + [0]
    }
    exchange.notify(information)
    #expect(exchange.host.details.firmware == "7A305")
  }
}
