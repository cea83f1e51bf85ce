// SPDX-License-Identifier: Apache-2.0

import Geometry
package import HeadTracking

/// The host's part of the protocol for head tracking with Galaxy Buds, on a serial port over
/// Bluetooth (RFCOMM).
///
/// The samples are in the sensor's axes, which differ between models and between left and right.
package struct GalaxyBudsProtocol: EarphoneProtocol {
  package private(set) var details = EarphoneDetails(isUntested: true)
  package let memory: EarphoneMemory? = nil
  private let isCalibrated: Bool
  private var framer = GalaxyFramer()
  private var phase = Phase.attaching(attempt: 1, since: 0)
  private var openedAt: Int64 = 0
  private var aliveAt: Int64 = 0
  private var heardAt: Int64 = 0
  private var lastTime = Int64.min
  private var discontinuities = 0
  private var last: HeadSample?

  private enum Phase {
    case attaching(attempt: Int, since: Int64)
    case attached
  }

  /// IDs of messages, then values of the payload's first byte, from the source code of
  /// `GalaxyBudsClient`.
  private enum Message {
    static let spatialAudio: UInt8 = 0x7C
    static let data: UInt8 = 0xC2
    static let control: UInt8 = 0xC3
    static let attach: UInt8 = 0
    static let detach: UInt8 = 1
    static let attached: UInt8 = 2
    static let keepAlive: UInt8 = 4
    static let orientation: UInt8 = 32
    static let worn: UInt8 = 33
    static let takenOff: UInt8 = 34
  }

  private static let attempts = 3
  private static let answerTime: Int64 = 3_000_000_000
  private static let aliveInterval: Int64 = 2_000_000_000
  private static let silence: Int64 = 3_000_000_000
  private static let deadLink: Int64 = 12_000_000_000

  package init(isCalibrated: Bool = false) { self.isCalibrated = isCalibrated }

  package var levelsOnRecenter: Bool { !isCalibrated }

  // MARK: Steps

  package mutating func open(now: Int64) -> EarphoneOutput {
    (openedAt, aliveAt, heardAt) = (now, now, now)
    phase = .attaching(attempt: 1, since: now)
    return EarphoneOutput(
      packets: [Self.packet(Message.spatialAudio, 1), Self.control(Message.attach)])
  }

  package mutating func receive(_ bytes: [UInt8], now: Int64) -> EarphoneOutput {
    let (frames, rejected) = framer.take(bytes)
    var output = EarphoneOutput(rejectedCount: rejected)
    for frame in frames { take(frame, now, &output) }
    return output
  }

  package mutating func advance(now: Int64) -> EarphoneOutput {
    var output = EarphoneOutput()
    // Buds that are not worn may send nothing, so their silence is not a fault.
    if details.state == .removed { heardAt = now }
    if now - heardAt > Self.deadLink {
      output.needsReopening = true
      return output
    }
    if now - aliveAt >= Self.aliveInterval {
      aliveAt = now
      output.packets.append(Self.control(Message.keepAlive))
    }
    switch phase {
    case .attaching(let attempt, let since):
      if now - since >= Self.answerTime, attempt < Self.attempts {
        phase = .attaching(attempt: attempt + 1, since: now)
        output.packets.append(Self.control(Message.attach))
      }
    case .attached:
      if now - heardAt >= Self.silence, details.state != .removed {
        phase = .attaching(attempt: 1, since: now)
        output.packets.append(Self.control(Message.attach))
      }
    }
    if details.state == .removed, let held = held(now) { output.readings.append(.head(held)) }
    return output
  }

  package mutating func lost(now: Int64) {}

  package mutating func close(now: Int64) -> [[UInt8]] {
    [Self.control(Message.detach), Self.packet(Message.spatialAudio, 0)]
  }

  private static func control(_ value: UInt8) -> [UInt8] { packet(Message.control, value) }

  private static func packet(_ id: UInt8, _ value: UInt8) -> [UInt8] {
    GalaxyFrame(id: id, payload: [value]).bytes
  }

  // MARK: Frames

  private mutating func take(_ frame: GalaxyFrame, _ now: Int64, _ output: inout EarphoneOutput) {
    switch (frame.id, frame.payload.first) {
    case (Message.control, Message.attached?): phase = .attached
    case (Message.data, Message.orientation?):
      guard let turn = Self.orientation(frame.payload) else {
        output.rejectedCount += 1
        return
      }
      (heardAt, phase) = (now, .attached)
      if details.state != .removed { output.readings.append(.head(sample(turn, now))) }
    case (Message.data, Message.worn?): setWorn(true, now, &output)
    case (Message.data, Message.takenOff?): setWorn(false, now, &output)
    default: break
    }
  }

  /// Returns the orientation in a payload: x, y, z, w as i16 in units of 1/10000. Returns nil if
  /// the payload is too short or the numbers are not roughly a unit quaternion.
  private static func orientation(_ payload: [UInt8]) -> Quaternion? {
    guard payload.count >= 9 else { return nil }
    let numbers = stride(from: 1, to: 9, by: 2).map { at in
      Double(Int16(bitPattern: UInt16(payload[at]) | UInt16(payload[at + 1]) << 8)) / 10000
    }
    let turn = Quaternion(w: numbers[3], x: numbers[0], y: numbers[1], z: numbers[2])
    guard (0.81...1.21).contains(turn.squaredNorm) else { return nil }
    return turn.normalized
  }

  private mutating func setWorn(_ isWorn: Bool, _ now: Int64, _ output: inout EarphoneOutput) {
    let state = isWorn ? EarphoneDetails.State.worn : .removed
    guard state != details.state else { return }
    // Earphones are assumed to be worn, so a first report that confirms this is not passed on.
    let isNews = details.state != .unknown || !isWorn
    if isWorn, details.state == .removed { discontinuities += 1 }
    details.state = state
    heardAt = now
    if isNews { output.readings.append(.worn(isWorn)) }
  }

  private mutating func sample(_ turn: Quaternion, _ now: Int64) -> HeadSample {
    lastTime = max(now, lastTime == .min ? .min : lastTime + 1000)
    let sample = HeadSample(
      time: lastTime, headToWorld: turn, discontinuityCount: discontinuities)
    last = sample
    return sample
  }

  /// Returns a new sample with the last pose. Returns nil before the first sample and for 40 ms
  /// after the latest one.
  private mutating func held(_ now: Int64) -> HeadSample? {
    guard let last, now - last.time >= 40_000_000 else { return nil }
    return sample(last.headToWorld, now)
  }
}
