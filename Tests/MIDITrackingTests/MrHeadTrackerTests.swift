// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import System
import TestSupport
import Testing

@testable import MIDITracking

/// The control changes of MrHeadTracker.
@Suite struct MrHeadTrackerTests {
  /// Feeds bytes, and returns the orientations including that which is complete 2 ms later.
  private func heads(_ bytes: [UInt8], _ tracker: inout MrHeadTracker, at time: Int64 = 1)
    -> [Quaternion]
  {
    var parser = MIDIParser()
    let readings = parser.parse(bytes).messages.flatMap {
      tracker.decode($0, arrival: time) ?? []
    }
    return (readings + (tracker.advance(now: time + 2_000_000) ?? [])).heads
  }

  private func tracker(
    _ form: MrHeadTracker.Settings.Form, isInverse: Bool = false
  ) -> MrHeadTracker {
    var settings = MrHeadTracker.Settings()
    (settings.form, settings.isInverse) = (form, isInverse)
    return MrHeadTracker(settings)
  }

  private func angle(_ a: Quaternion, _ b: Quaternion) -> Double {
    Quaternion.angle(between: a, b) * degreesPerRadian
  }

  private static let identity = hex(
    "B0 30 7E B0 10 7F B0 31 7F B0 11 3F B0 32 7F B0 12 3F B0 33 7F B0 13 3F")

  @Test("The vectors of the protocol's description decode to their values")
  func vectors() throws {
    var tracker = tracker(.auto, isInverse: true)
    let found = heads(Self.identity, &tracker)
    #expect(found.count == 1)
    #expect(angle(try #require(found.first), .identity) < 1e-6)
    let quarter = hex("B0 30 00 B0 10 60")
    for (isInverse, yaw) in [(false, 90.0), (true, -90.0)] {
      var tracker = self.tracker(.angles, isInverse: isInverse)
      let head = try #require(heads(quarter, &tracker).first)
      #expect(angle(head, YawPitchRoll(yaw: yaw).quaternion) < 0.01)
    }
  }

  @Test(
    "A head that looks around is decoded within 0.2 degrees, in each form",
    arguments: MrHeadTrackerMessages.Form.allCases)
  func forms(form: MrHeadTrackerMessages.Form) {
    var device = MrHeadTrackerMessages(form)
    var tracker = tracker(.auto, isInverse: device.isInverse)
    var (worst, count) = (0.0, 0)
    for step in 0..<1000 {
      let head = lookingAround(Double(step) * 0.02)
      for found in heads(device.bytes(head), &tracker, at: Int64(step) * 20_000_000) {
        count += 1
        worst = max(worst, angle(found, head))
      }
    }
    // The first samples decide whether they are angles.
    #expect(count == (form == .quaternion ? 1000 : 981))
    #expect(worst < 0.2, "\(worst)")
  }

  @Test("The inverse option inverts the quaternion")
  func inverse() throws {
    let head = YawPitchRoll(yaw: 30, pitch: 20, roll: 10).quaternion
    var device = MrHeadTrackerMessages(.quaternion)
    var tracker = tracker(.quaternion, isInverse: true)
    let found = try #require(heads(device.bytes(head.conjugate), &tracker).first)
    #expect(angle(found, head) < 0.05)
  }

  @Test("A sample ends after 1 ms without a pair, and when a controller comes again")
  func ends() {
    var tracker = tracker(.quaternion)
    var parser = MIDIParser()
    func decode(_ bytes: [UInt8], _ time: Int64) -> Int {
      parser.parse(bytes).messages.flatMap { tracker.decode($0, arrival: time) ?? [] }.heads.count
    }
    #expect(decode(Self.identity, 1000) == 0)
    #expect(tracker.due == 1_001_000)
    #expect(tracker.advance(now: 1_000_999) == [])
    #expect(tracker.advance(now: 1_001_000)?.heads.count == 1)
    #expect(tracker.due == nil && tracker.advance(now: 9_000_000) == [])
    // Two samples without a pause, and the beginning of a third.
    #expect(decode(Self.identity + Self.identity + Array(Self.identity.prefix(6)), 2_000_000) == 2)
    // A pair in two packets is one pair.
    #expect(decode(hex("B0 31 7F"), 3_000_000) == 0)
    #expect(tracker.advance(now: 3_100_000)?.heads.count == 0)
    #expect(decode(hex("B0 11 3F"), 3_200_000) == 0)
    #expect(tracker.advance(now: 4_200_000)?.heads.count == 1)
  }

  @Test("Numbers that are not sent keep their values, and incomplete quaternions wait")
  func changes() throws {
    var tracker = tracker(.quaternion)
    #expect(heads(Array(Self.identity.prefix(18)), &tracker).isEmpty)
    #expect(heads(Array(Self.identity.suffix(6)), &tracker).count == 1)
    // z and w of a quarter turn to the left.
    let quarter = hex("B0 30 1F B0 10 6D B0 33 1F B0 13 6D")
    let found = try #require(heads(quarter, &tracker, at: 5_000_000).first)
    #expect(angle(found, YawPitchRoll(yaw: 90).quaternion) < 0.2)
  }

  @Test("Halves without their pair, other channels and impossible quaternions give no pose")
  func damage() {
    var tracker = tracker(.quaternion)
    #expect(tracker.decode(.channel(status: 0xB0, first: 16, second: 1), arrival: 1) == nil)
    #expect(tracker.decode(.channel(status: 0xB1, first: 16, second: 1), arrival: 1) == [])
    #expect(tracker.decode(.channel(status: 0xB0, first: 7, second: 1), arrival: 1) == [])
    #expect(tracker.decode(.systemExclusive([0xF0, 0xF7]), arrival: 1) == [])
    let short = Self.identity.map { $0 == 0x7F ? 0x3F : $0 }
    #expect(heads(short, &tracker).isEmpty)
  }

  @Test("Angles are taken for such after 20 samples, and a z makes them a quaternion")
  func choosesTheForm() {
    var tracker = tracker(.auto)
    var device = MrHeadTrackerMessages(.anglesDirect)
    let counts = (0..<40).map { step in
      heads(
        device.bytes(lookingAround(Double(step) * 0.1)), &tracker, at: Int64(step) * 20_000_000
      ).count
    }
    #expect(counts == (0..<40).map { $0 < 19 ? 0 : 1 })
    #expect(heads(Self.identity, &tracker, at: 900_000_000) == [.identity])
  }
}
