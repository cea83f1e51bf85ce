// SPDX-License-Identifier: Apache-2.0

import Geometry

@testable import HeadTracking
@testable import MIDITracking

/// Feeds arbitrary bytes to the decoders of MIDI trackers, and stops the program if the output is
/// invalid. A test uses it, and `make fuzz` through libFuzzer.
///
/// The first byte selects the decoder, the second its settings. The rest is split into packets with
/// a length prefix.
enum MIDIFuzz {
  static let targets = 4

  static func run(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return }
    let (option, packets) = (bytes[1], packets(Array(bytes.dropFirst(2))))
    switch Int(bytes[0]) % targets {
    case 0: attempt(packets, Supperware())
    case 1:
      var settings = MrHeadTracker.Settings()
      settings.form = MrHeadTracker.Settings.Form.allCases[Int(option) % 3]
      settings.isInverse = option & 8 == 0
      attempt(packets, MrHeadTracker(settings))
    case 2:
      attempt(
        packets,
        MIDIFrames(.systemExclusive(prefix: [0xF0, 0x7D], length: 9), decoder: AnyFrame(9)))
    default:
      let pairs = [
        ControllerPair(upper: 16, lower: 48), ControllerPair(channel: 2, upper: 17, lower: 49),
      ]
      attempt(packets, MIDIFrames(.controllers(pairs), decoder: AnyFrame(4)))
    }
  }

  /// Checks the length of frames.
  private struct AnyFrame: MIDIFrameDecoder {
    let length: Int
    private var arrivals = EvenArrivals()

    init(_ length: Int) { self.length = length }

    mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
      precondition(frame.count == length, "a frame has another length")
      let head = YawPitchRoll(yaw: Double(frame[2])).quaternion
      return [.head(HeadSample(time: arrivals.time(arrival), headToWorld: head))]
    }
  }

  private static func attempt(_ packets: [[UInt8]], _ tracker: some MIDITrackerProtocol) {
    let source = HeadPoseSource()
    var intake = TrackerIntake(sink: source, fusion: .default, record: nil) { _ in }
    var (parser, tracker) = (MIDIParser(), tracker)
    var now: Int64 = 1_000_000_000
    for packet in packets {
      now += 700_000
      let (messages, _) = parser.parse(packet)
      require(parser.exclusive.count < MIDIParser.lengthLimit, "memory")
      var readings = messages.flatMap { tracker.decode($0, arrival: now) ?? [] }
      now += Int64(packet.count) * 20_000
      readings += tracker.advance(now: now) ?? []
      require(tracker.due.map { $0 < now + 10_000_000 } ?? true, "wait")
      for case .head(let sample) in readings {
        require(sample.time <= now + 1_000_000, "time")
        require(abs(sample.headToWorld.squaredNorm - 1) < 1e-6, "sample")
        intake.take(.head(sample))
      }
      require(abs(source.pose(at: now, now: now).squaredNorm - 1) < 1e-9, "pose")
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
