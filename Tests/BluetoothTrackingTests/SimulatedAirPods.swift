// SPDX-License-Identifier: Apache-2.0

import Geometry

@testable import BluetoothTracking

/// AirPods that exist only here: their side of the protocol, and the head that wears them.
struct SimulatedAirPods {
  /// How the earphones behave.
  struct Behaviour {
    /// The service that streams; nil if none does.
    var service: UInt64? = 16
    /// Services that acknowledge a start.
    var acknowledged: Set<UInt64> = [6, 14, 15, 16]
    /// The longest packet that the host receives; a longer description is left out.
    var mtu = 1691
    var describes = true
    /// Number of starts that are acknowledged but stay silent.
    var silentStarts = 0
    /// Number of starts that stream at 1.6 Hz.
    var slowStarts = 0
    var crashesOnStart = false
    /// Reports in each packet, one after another.
    var batches = [1]
    /// The number of the first frame.
    var sequence: UInt64 = 1
    var usesOlderForm = false
    /// The version of the reports.
    var version: UInt8 = 3
    /// The first report after a start is not settled.
    var startsUnsettled = true
  }

  var behaviour = Behaviour()
  /// The rotation from the sensor's axes to the headset's, as the property has it.
  let mounting: Quaternion
  /// The head's orientation as a function of time in seconds.
  let head: (Double) -> Quaternion
  /// A rotation of the sensor's world about the vertical, which a change of the leading bud
  /// changes.
  var world = Quaternion.identity
  /// Added to the sensor's clock, in microseconds.
  var clockOffset: Int64 = 5_000_000
  /// Whether the stream rests, as it may out of the ears.
  var isPaused = false
  private(set) var isBroken = false
  private(set) var received: [[UInt8]] = []
  private(set) var startTimes: [Int64] = []
  private(set) var stopCount = 0
  private var isAwake = false
  private var hasDescribed = false
  private var interval: Int64 = 0
  private var due: Int64?
  private var starts = 0
  private var pending: [[UInt8]] = []
  private var reportsSinceStart = 0
  private var packetCount = 0

  init(
    _ behaviour: Behaviour = Behaviour(), mounting: Quaternion,
    head: @escaping (Double) -> Quaternion
  ) {
    self.behaviour = behaviour
    self.mounting = mounting
    self.head = head
  }

  /// The true orientation of the head at a time in nanoseconds, in the sensor's world.
  func truth(at time: Int64) -> Quaternion { world * head(Double(time) * 1e-9) }

  // MARK: The link

  /// Takes a packet of the host; returns the answers.
  mutating func take(_ packet: [UInt8], now: Int64) -> [[UInt8]] {
    received.append(packet)
    if packet == AAPPacket.handshake { isAwake = true }
    guard isAwake else { return [] }
    if packet == AAPPacket.notifications, behaviour.describes, !hasDescribed {
      hasDescribed = true
      return [description].filter { $0.count <= behaviour.mtu }
    }
    guard packet.starts(with: [4, 0, 4, 0, 0x17]), packet.count > 20 else { return [] }
    let body = ProtobufFields(packet[12...])
    guard let setting = body.bytes(8), let service = ProtobufFields(setting).number(1),
      let value = ProtobufFields(setting).bytes(3)
    else { return [] }
    let microseconds = value.dropFirst().reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
    return request(service & 63, microseconds, now)
  }

  private mutating func request(
    _ service: UInt64, _ microseconds: Int64, _ now: Int64
  ) -> [[UInt8]] {
    guard microseconds > 0 else {
      stopCount += 1
      if service == behaviour.service { due = nil }
      return []
    }
    startTimes.append(now)
    if behaviour.crashesOnStart { isBroken = true }
    if service == behaviour.service {
      starts += 1
      (interval, reportsSinceStart, pending) = (microseconds * 1000, 0, [])
      due = starts > behaviour.silentStarts ? now + interval : nil
    }
    guard behaviour.acknowledged.contains(service) else { return [] }
    return [frame([0x4A, 2, 8, UInt8(service)])]
  }

  /// Returns the packets that the earphones send at this time.
  mutating func step(now: Int64) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    while let next = due, next <= now {
      let isSlow = starts <= behaviour.silentStarts + behaviour.slowStarts
      due = next + (isSlow ? 625_000_000 : interval)
      if isPaused { continue }
      pending.append(report(at: next))
      reportsSinceStart += 1
      let count = behaviour.batches[packetCount % behaviour.batches.count]
      guard pending.count >= count else { continue }
      packetCount += 1
      packets.append(frame(pending.flatMap(reportField)))
      pending = []
    }
    return packets
  }

  // MARK: Packets

  private mutating func frame(_ fields: [UInt8]) -> [UInt8] {
    let body = [0x08] + varint(behaviour.sequence) + [0x10, 3] + fields
    behaviour.sequence += 1
    return [4, 0, 4, 0, 0x17, 0, 0, 0, 0x10, 0, UInt8(body.count & 255), UInt8(body.count >> 8)]
      + body
  }

  private func reportField(_ report: [UInt8]) -> [UInt8] {
    let service = behaviour.service ?? 0
    if behaviour.usesOlderForm {
      return [0x1A, UInt8(report.count + 2), UInt8(service), 0] + report
    }
    return [0x3A, UInt8(report.count + 4), 8, UInt8(service), 0x1A, UInt8(report.count)] + report
  }

  /// The description of the motion service; 521 bytes as on Pro 3.
  private var description: [UInt8] {
    Self.description(service: behaviour.service ?? 16, mounting: mounting)
  }

  static func description(
    service: UInt64 = 16, mounting: Quaternion = Quaternion(w: 1, x: 0, y: 0, z: 0)
  ) -> [UInt8] {
    let numbers = [mounting.x, mounting.y, mounting.z, mounting.w].flatMap { value in
      int16(value * 32767)
    }
    var blob: [UInt8] = [0xD3, 0, 0, 0, 2, 0, 0] + Array("AccessoryService".utf8)
    blob += [0x0A, 0, 0, 9] + Array("devmotion6".utf8) + [0x11, 0, 0, 0, 9]
    blob += Array("H2HTransformation".utf8) + [1, 0, 0, 8, 0, 0, 0x0A] + numbers
    blob += [UInt8](repeating: 0, count: max(0, 490 - blob.count))
    let message = [8] + varint(service) + [0x12] + varint(UInt64(blob.count)) + blob
    let body = [0x08, 1, 0x2A] + varint(UInt64(message.count)) + message
    return [4, 0, 4, 0, 0x17, 0, 0, 0, 0x10, 0, UInt8(body.count & 255), UInt8(body.count >> 8)]
      + body
  }

  private func report(at time: Int64) -> [UInt8] {
    let c = SensorDescription.sensorToHead(mounting)
    var turn = truth(at: time) * c
    let later = (head(Double(time) * 1e-9 - 0.0005), head(Double(time) * 1e-9 + 0.0005))
    let rate = c.conjugate.rotate((later.0.conjugate * later.1).rotationVector / 0.001)
    let down = turn.conjugate.rotate(SIMD3(0, 0, -1))
    var status: UInt16 = 0x8300
    if behaviour.startsUnsettled, reportsSinceStart == 0 {
      (turn, status) = (.identity, 0x8200)
    }
    if turn.w < 0 { turn = Quaternion(w: -turn.w, x: -turn.x, y: -turn.y, z: -turn.z) }
    let microseconds = UInt64(time / 1000 + clockOffset)
    var bytes: [UInt8] = [1] + Self.bytes(microseconds * 1000, 8) + [behaviour.version]
    bytes += Self.bytes(UInt64(status), 2) + Self.bytes(microseconds, 8)
    bytes += [turn.x, turn.y, turn.z].flatMap { Self.int16($0 * 32767) }
    bytes += [rate.x, rate.y, rate.z].flatMap { Self.int16($0 * 512) }
    bytes += [UInt8](repeating: 0, count: 12)
    bytes += [down.x, down.y, down.z].flatMap { Self.int16($0 * 1024) }
    bytes += [0, 0, 0, 0] + Self.bytes(UInt64(time / 5_020_000), behaviour.version == 3 ? 4 : 2)
    return bytes
  }

  private static func int16(_ value: Double) -> [UInt8] {
    let rounded = Int16(max(-32768, min(32767, value.rounded())))
    return bytes(UInt64(UInt16(bitPattern: rounded)), 2)
  }

  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  /// The notification that tells where the buds are.
  static func ears(_ primary: UInt8, _ secondary: UInt8) -> [UInt8] {
    [4, 0, 4, 0, 6, 0, primary, secondary]
  }
}
