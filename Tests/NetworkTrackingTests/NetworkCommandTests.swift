// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import NetworkTracking

/// The built program with trackers that have a profile with an address.
@Suite(.serialized) struct NetworkCommandTests {
  private static let program = "\(ProgramRun.builtProducts)/stillstage"
  private static let askew = YawPitchRoll(yaw: -30, pitch: 10, roll: 80).quaternion

  private func frame(_ head: Quaternion) -> [UInt8] {
    let q = head * Self.askew
    let numbers = [q.w, q.x, q.y, q.z].map { "\(($0 * 1e6).rounded() / 1e6)" }
    return Array((numbers.joined(separator: " ") + "\n").utf8)
  }

  /// Lists, calibrates and watches the tracker that this profile describes.
  private func steps(_ link: String, _ place: String, send: @escaping ([UInt8]) -> Void) throws {
    let folder = TemporaryFolder()
    let profiles = "config/stillstage/tracker-profiles"
    try #require(ProgramRun.of("mkdir", ["-p", folder.file(profiles)]).exitCode == 0)
    try folder.write(
      """
      { "schema": 1, "name": "phone", "link": "\(link)", "\(link)": { \(place) },
        "frame": { "text": "{w} {x} {y} {z}" },
        "signals": { "quaternionW": { "name": "w" }, "quaternionX": { "name": "x" },
          "quaternionY": { "name": "y" }, "quaternionZ": { "name": "z" } } }
      """, to: "\(profiles)/phone.json")
    let environment = ["XDG_CONFIG_HOME": folder.file("config")]
    let list = try ProgramRun.of(Self.program, ["trackers"], environment: environment)
    #expect(list.output.contains("phone  profile phone  network"), "\(list.output)")
    let listener = SimulatedListener([Self.program], environment: environment) { send(frame($0)) }
    let (exitCode, lines) = try listener.calibrate("phone")
    #expect(exitCode == 0, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("measured 90.0 degrees") }, "\(lines)")
    try listener.watch(
      "phone", [YawPitchRoll(yaw: 50, pitch: 10, roll: -5), YawPitchRoll(roll: 20)])
  }

  @Test("A TCP tracker that is worn askew is listed, calibrated and watched within 0.2 degrees")
  func stream() throws {
    let server = try LoopbackServer()
    try steps("tcp", "\"host\": \"127.0.0.1\", \"port\": \(server.port)") { server.send($0) }
  }

  @Test("A UDP tracker that is worn askew is listed, calibrated and watched within 0.2 degrees")
  func datagrams() throws {
    let sender = try LoopbackSender()
    try steps("udp", "\"port\": \(sender.port)") { sender.send($0) }
  }
}
