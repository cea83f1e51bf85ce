// SPDX-License-Identifier: Apache-2.0

import Geometry

@testable import BluetoothTracking
@testable import HeadTracking
@testable import MIDITracking
@testable import NetworkTracking

/// Feeds arbitrary bytes to the decoders of trackers on other links than HID, and to the reader of
/// profiles. It stops the program if the output is invalid. A test uses it, and `make fuzz` through
/// libFuzzer.
///
/// The first byte selects the target, the second its settings. The rest is split into packets with
/// a length prefix; for a profile, its text and five zeros come before them.
enum LinkFuzz {
  static let targets = 10

  static func run(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return }
    let (option, rest) = (bytes[1], Array(bytes.dropFirst(2)))
    switch Int(bytes[0]) % targets {
    case 0: lowEnergy(WavesNx(isCalibrated: option & 1 == 1), rest)
    case 1: lowEnergy(XsensDOT(), rest)
    case 2: witMotion(rest)
    case 3: glasses(XREALOneStream(axes: option & 1 == 1 ? .rightUpBack : nil), rest)
    case 4: midi(Supperware(), rest)
    case 5:
      var settings = MrHeadTracker.Settings()
      settings.form = MrHeadTracker.Settings.Form.allCases[Int(option) % 3]
      settings.isInverse = option & 8 == 0
      midi(MrHeadTracker(settings), rest)
    case 6:
      let framing = MIDIFraming.systemExclusive(prefix: [0xF0, 0x7D], length: 9)
      midi(MIDIFrames(framing, decoder: AnyFrame(9)), rest)
    case 7:
      let pairs = [
        ControllerPair(upper: 16, lower: 48), ControllerPair(channel: 2, upper: 17, lower: 49),
      ]
      midi(MIDIFrames(.controllers(pairs), decoder: AnyFrame(4)), rest)
    case 8: profile(rest)
    default:
      let ports = SequencerClients.ports(String(decoding: rest, as: UTF8.self))
      require(ports.allSatisfy { !$0.path.isEmpty }, "port")
    }
  }

  // MARK: Targets

  private static func lowEnergy(_ tracker: some LowEnergyProtocol, _ bytes: [UInt8]) {
    var (tracker, path) = (tracker, CheckedPath())
    for packet in packets(bytes) {
      path.now += 10_000_000
      path.take(tracker.decode(packet, arrival: path.now) ?? [])
    }
  }

  private static func witMotion(_ bytes: [UInt8]) {
    var (tracker, path) = (WitMotion(), CheckedPath())
    for packet in packets(bytes) {
      path.now += 10_000_000
      path.take(tracker.decode(packet, arrival: path.now) ?? [])
      require(tracker.rest.count < 20, "memory")
    }
  }

  private static func glasses(_ stream: XREALOneStream, _ bytes: [UInt8]) {
    var (stream, path) = (stream, CheckedPath())
    for packet in packets(bytes) {
      path.now += 10_000_000
      path.take(stream.decode(packet, arrival: path.now).readings)
      require(stream.rest.count < 134, "memory")
    }
  }

  /// - Parameter longestWait: the longest time for which the decoder may wait for more bytes [ns].
  private static func midi(
    _ tracker: some MIDITrackerProtocol, _ bytes: [UInt8], longestWait: Int64 = 10_000_000
  ) {
    var (parser, tracker, path) = (MIDIParser(), tracker, CheckedPath(isInOrder: false))
    for packet in packets(bytes) {
      path.now += 700_000
      let (messages, _) = parser.parse(packet)
      require(parser.exclusive.count < MIDIParser.lengthLimit, "memory")
      var readings = messages.flatMap { tracker.decode($0, arrival: path.now) ?? [] }
      path.now += Int64(packet.count) * 20_000
      readings += tracker.advance(now: path.now) ?? []
      require(tracker.due.map { $0 < path.now + longestWait } ?? true, "wait")
      path.take(readings)
    }
  }

  /// Reads a profile and, if it is valid, decodes the packets with it, on its link.
  private static func profile(_ bytes: [UInt8]) {
    let mark = [UInt8](repeating: 0, count: 5)
    let end = bytes.firstRange(of: mark) ?? bytes.count..<bytes.count
    let (profile, problems) = ProfileReader.read(Array(bytes[..<end.lowerBound]))
    require(profile != nil || !problems.isEmpty, "no reason")
    require(problems.count <= 201 && problems.allSatisfy { ($0.line ?? 1) >= 1 }, "problems")
    guard let profile else { return }
    require(profile.problem == nil, "an invalid profile")
    let rest = Array(bytes[end.upperBound...])
    if let model = MIDIModel(profile) { return midi(profile: model, rest) }
    var (splitter, path) = (FrameSplitter(profile.framing), CheckedPath(isInOrder: false))
    var stream = ProfileStream(profile)
    for packet in packets(rest) {
      path.now += 10_000_000
      _ = splitter.take(packet)
      require(splitter.rest.count <= TrackerProfile.longestFrame, "memory")
      path.take(stream.decode(packet, arrival: path.now).readings)
    }
  }

  private static func midi(profile model: MIDIModel, _ bytes: [UInt8]) {
    let tracker = model.open(MIDIModel.Settings())
    // A profile can state a gap of up to 100 ms.
    func pass(_ tracker: some MIDITrackerProtocol) {
      midi(tracker, bytes, longestWait: 101_000_000)
    }
    pass(tracker)
  }

  // MARK: Helpers

  /// The path of the readings from a decoder to the pose, with checks.
  private struct CheckedPath {
    /// In CLOCK_MONOTONIC nanoseconds.
    var now: Int64 = 1_000_000_000
    private let isInOrder: Bool
    private var last = Int64.min
    private let source = HeadPoseSource()
    private var intake: TrackerIntake

    /// - Parameter isInOrder: whether the decoder must give increasing times.
    init(isInOrder: Bool = true) {
      self.isInOrder = isInOrder
      intake = TrackerIntake(sink: source, fusion: .default, record: nil) { _ in }
    }

    mutating func take(_ readings: [TrackerReading]) {
      for reading in readings {
        switch reading {
        case .head(let sample):
          check(sample.time)
          require(abs(sample.headToWorld.squaredNorm - 1) < 1e-6, "orientation")
        case .inertial(let sample): check(sample.time)
        default: break
        }
        intake.take(reading)
      }
      // False also for a pose that is not a number.
      require(abs(source.pose(at: now, now: now).squaredNorm - 1) < 1e-9, "pose")
    }

    private mutating func check(_ time: Int64) {
      require(time <= now + 1_000_000 && (time > last || !isInOrder), "time")
      last = time
    }
  }

  /// Checks the length of the frames of a MIDI tracker.
  private struct AnyFrame: MIDIFrameDecoder {
    let length: Int
    private var arrivals = EvenArrivals()

    init(_ length: Int) { self.length = length }

    mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
      require(frame.count == length, "length")
      let head = YawPitchRoll(yaw: Double(frame[2])).quaternion
      return [.head(HeadSample(time: arrivals.time(arrival), headToWorld: head))]
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
