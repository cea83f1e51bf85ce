// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

@testable import BluetoothTracking

/// A host and simulated AirPods that exchange packets in simulated time.
struct Exchange {
  var airPods: SimulatedAirPods
  var host: AirPodsProtocol
  var now: Int64 = 1_000_000_000
  var readings: [TrackerReading] = []
  var samples: [HeadSample] = []
  var rejectedCount = 0
  var needsReopening = false
  /// All packets of the AirPods so far.
  var sentByAirPods: [[UInt8]] = []

  init(
    _ behaviour: SimulatedAirPods.Behaviour = SimulatedAirPods.Behaviour(),
    host: AirPodsProtocol = AirPodsProtocol(), mounting: Quaternion = Self.pro3,
    head: @escaping (Double) -> Quaternion = Self.looking
  ) {
    airPods = SimulatedAirPods(behaviour, mounting: mounting, head: head)
    self.host = host
    take(self.host.open(now: now))
  }

  /// The captured mounting of Pro 3.
  static let pro3 = Quaternion(w: 0.3960, x: 0.6313, y: -0.1628, z: -0.6467).normalized

  /// A head that looks around by up to 70 degrees.
  static func looking(_ t: Double) -> Quaternion {
    YawPitchRoll(
      yaw: 70 * wave(t, 0.31), pitch: 20 * wave(t, 0.23), roll: 12 * wave(t, 0.17)
    ).quaternion
  }

  static func wave(_ t: Double, _ frequency: Double) -> Double {
    Quaternion(
      rotationVector: SIMD3(0, 0, 4 * .pi * ((t * frequency).truncatingRemainder(dividingBy: 1)))
    ).z
  }

  /// Lets time pass, in steps of 5 ms, until the link breaks.
  ///
  /// - Parameter step: called after each step.
  mutating func run(seconds: Double, step: (borrowing Exchange) -> Void = { _ in }) {
    let end = now + Int64(seconds * 1e9)
    while now < end, !needsReopening, !airPods.isBroken {
      now += 5_000_000
      defer { step(self) }
      for packet in airPods.step(now: now) { deliver(packet) }
      take(host.advance(now: now))
    }
  }

  mutating func notify(_ packet: [UInt8]) { take(host.receive(packet, now: now)) }

  private mutating func deliver(_ packet: [UInt8]) {
    sentByAirPods.append(packet)
    take(host.receive(packet, now: now))
  }

  private mutating func take(_ output: EarphoneOutput) {
    readings += output.readings
    for case .head(let sample) in output.readings { samples.append(sample) }
    rejectedCount += output.rejectedCount
    needsReopening = needsReopening || output.needsReopening
    for packet in output.packets {
      for answer in airPods.take(packet, now: now) { deliver(answer) }
    }
  }

  /// Returns the largest angle between a sample and the head at the sample's time, in degrees.
  func largestError(from first: Int = 0) -> Double {
    samples[first...].map { sample in
      Quaternion.angle(between: sample.headToWorld, airPods.truth(at: sample.time)) * 180 / .pi
    }.max() ?? .infinity
  }
}
