// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import System
import TestSupport
import Testing

@testable import MIDITracking

/// The messages of the Supperware Head Tracker.
@Suite struct SupperwareTests {
  private func heads(_ bytes: [UInt8], _ axes: AxisMap? = nil) -> [Quaternion] {
    var (parser, tracker) = (MIDIParser(), Supperware(axes: axes))
    return parser.parse(bytes).messages.flatMap { tracker.decode($0, arrival: 1) ?? [] }.heads
  }

  private func isClose(_ a: Quaternion, _ b: Quaternion, degrees: Double = 0.06) -> Bool {
    Quaternion.angle(between: a, b) * degreesPerRadian < degrees
  }

  @Test(
    "The vectors of the protocol's description decode to their values",
    arguments: [
      ("40 01 10 00 00 00 00 00 00 00", YawPitchRoll()),
      ("40 01 0B 28 00 00 00 00 0B 28", YawPitchRoll(yaw: 90)),
      ("40 01 0F 3A 04 12 00 00 00 00", YawPitchRoll(pitch: 30)),
      ("40 01 0F 3A 00 00 04 12 00 00", YawPitchRoll(roll: 30)),
      ("40 00 19 11 00 00 00 00", YawPitchRoll(yaw: 90)),
      ("40 00 32 22 00 00 00 00", YawPitchRoll(yaw: 180)),
      ("40 00 4D 5E 00 00 00 00", YawPitchRoll(yaw: -180)),
      ("40 00 78 00 00 00 00 00", YawPitchRoll(yaw: -0.5 * degreesPerRadian)),
      ("40 00 70 00 00 00 00 00", YawPitchRoll(yaw: -1 * degreesPerRadian)),
    ] as [(String, YawPitchRoll)])
  func vectors(data: String, angles: YawPitchRoll) throws {
    let found = heads(hex("F0 00 21 42 \(data) F7"))
    #expect(found.count == 1)
    #expect(isClose(try #require(found.first), angles.quaternion))
  }

  @Test("A head that looks around is decoded within 0.2 degrees, from each of the three formats")
  func formats() throws {
    var (worst, count) = (0.0, 0)
    for step in 0..<1000 {
      let head = lookingAround(Double(step) * 0.02)
      let messages = [
        SupperwareMessages.quaternion(head), SupperwareMessages.angles(YawPitchRoll(head)),
        SupperwareMessages.matrix(head),
      ]
      for found in messages.flatMap({ heads($0) }) {
        count += 1
        worst = max(worst, Quaternion.angle(between: found, head) * degreesPerRadian)
      }
    }
    #expect(count == 3000 && worst < 0.2, "\(worst)")
  }

  @Test("Matrices of all rotations are decoded, and other matrices are rejected")
  func matrices() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<500 {
      let head = randomTurn(using: &generator)
      let found = heads(SupperwareMessages.matrix(head))
      #expect(isClose(try #require(found.first), head, degrees: 0.2))
    }
    // A mirror.
    #expect(heads(SupperwareMessages.numbers(2, [-1, 0, 0, 0, 1, 0, 0, 0, 1])).isEmpty)
    #expect(heads(SupperwareMessages.numbers(2, [Double](repeating: 0, count: 9))).isEmpty)
  }

  @Test("Another mounting turns the sensor's axes")
  func axes() throws {
    let head = YawPitchRoll(yaw: 40, pitch: 20, roll: 10).quaternion
    let message = SupperwareMessages.numbers(1, [head.w, head.x, head.y, head.z])
    let found = heads(message, .frontLeftUp)
    #expect(isClose(try #require(found.first), head))
  }

  @Test("Damaged messages are rejected, and other messages are skipped")
  func damage() {
    var tracker = Supperware()
    func decode(_ text: String) -> [TrackerReading]? {
      tracker.decode(.systemExclusive(hex("F0 00 21 42 \(text) F7")), arrival: 1)
    }
    #expect(decode("40 01 10 00 00 00 00 00 00") == nil)
    #expect(decode("40 01 10 00 00 00 00 00") == nil)
    #expect(decode("40 01 00 00 00 00 00 00 00 00") == nil)
    #expect(decode("40 07 10 00 00 00 00 00 00 00") == nil)
    #expect(decode("42 05 05 03 62") == [])
    #expect(decode("") == [])
    #expect(tracker.decode(.systemExclusive(hex("F0 00 21 43 40 01 F7")), arrival: 1) == [])
    #expect(tracker.decode(.channel(status: 0xB0, first: 1, second: 1), arrival: 1) == [])
  }

  // MARK: To the tracker

  @Test("The start messages set the sensors, the format and what the settings ask for")
  func start() {
    #expect(
      Supperware().startMessages == [
        hex("F0 00 21 42 00 00 28 01 05 03 68 F7"), hex("F0 00 21 42 01 01 04 F7"),
      ])
    var settings = Supperware.Settings()
    (settings.rateHertz, settings.compass, settings.cable) = (50, .on, .left)
    (settings.zeroes, settings.shakeZeroes) = (true, true)
    #expect(
      Supperware(settings).startMessages == [
        hex("F0 00 21 42 00 00 08 01 05 03 70 04 02 04 18 F7"), hex("F0 00 21 42 01 01 04 F7"),
        hex("F0 00 21 42 01 00 01 F7"),
      ])
    (settings.compass, settings.cable, settings.shakeZeroes) = (.keep, .right, false)
    #expect(
      Supperware(settings).startMessages.first == hex("F0 00 21 42 00 00 08 01 05 04 03 04 10 F7"))
  }

  @Test("The stop message switches the sensors off")
  func stop() {
    #expect(Supperware().stopMessages == [hex("F0 00 21 42 00 00 40 F7")])
  }
}
