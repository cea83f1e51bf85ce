// SPDX-License-Identifier: Apache-2.0

import Geometry

@testable import BluetoothTracking
@testable import HeadTracking
@testable import NetworkTracking

/// Feeds arbitrary bytes to the decoders of Bluetooth LE and TCP trackers, and stops the program if
/// the output is invalid. A test uses it, and `make fuzz` through libFuzzer.
///
/// The first byte selects the decoder, the second its settings. The rest is split into packets with
/// a length prefix.
enum LinkFuzz {
  static let targets = 4

  static func run(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return }
    let (isCalibrated, packets) = (bytes[1] & 1 == 1, packets(Array(bytes.dropFirst(2))))
    switch Int(bytes[0]) % targets {
    case 0:
      var nx = WavesNx(isCalibrated: isCalibrated)
      attempt(packets) { nx.decode($0, arrival: $1) ?? [] }
    case 1:
      var dot = XsensDOT()
      attempt(packets) { dot.decode($0, arrival: $1) ?? [] }
    case 2:
      var wit = WitMotion()
      attempt(packets) {
        let readings = wit.decode($0, arrival: $1) ?? []
        require(wit.rest.count < 20, "memory")
        return readings
      }
    default:
      var stream = XREALOneStream(axes: isCalibrated ? .rightUpBack : nil)
      attempt(packets) {
        let readings = stream.decode($0, arrival: $1).readings
        require(stream.rest.count < 134, "memory")
        return readings
      }
    }
  }

  private static func attempt(
    _ packets: [[UInt8]], _ decode: ([UInt8], Int64) -> [TrackerReading]
  ) {
    let source = HeadPoseSource()
    var intake = TrackerIntake(sink: source, fusion: .default, record: nil) { _ in }
    var now: Int64 = 1_000_000_000
    var last = Int64.min
    for packet in packets {
      now += 10_000_000
      for reading in decode(packet, now) {
        let time =
          switch reading {
          case .head(let sample): sample.time
          case .inertial(let sample): sample.time
          default: last
          }
        require(time <= now + 1_000_000 && time > last, "time")
        last = time
        intake.take(reading)
      }
      let pose = source.pose(at: now, now: now)
      require(abs(pose.squaredNorm - 1) < 1e-9, "pose")
    }
  }

  private static func packets(_ bytes: [UInt8]) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var at = 0
    while at < bytes.count, packets.count < 64 {
      let end = min(bytes.count, at + 1 + Int(bytes[at]))
      packets.append(Array(bytes[(at + 1)..<end]))
      at = end
    }
    return packets
  }

  private static func require(_ condition: Bool, _ what: String) {
    precondition(condition, "a decoder went wrong: \(what)")
  }
}
