// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import TestSupport
import Testing

/// A PipeWire server with a Bluetooth headset (`Tests/Fixtures/pipewire_card.c`) and a microphone
/// of another kind, which has two channels.
private struct PipeWireHeadset {
  let server: PrivatePipeWireServer
  let folder = TemporaryFolder()
  private let headset: RunningProgram

  /// - Parameter kind: "headset", "slow" for one whose codecs are announced late, or "broken" for
  ///   one whose microphone does not appear.
  init(_ kind: String) throws {
    server = try PrivatePipeWireServer()
    headset = try RunningProgram(
      [try CompiledFixture.pipeWireCard.get(), kind],
      environment: server.environment.mapValues { $0 }, input: .pipe)
    _ = try headset.line(with: "ready")
    try server.pactl(["load-module", "module-null-sink", "sink_name=feed", "channels=2"])
    try server.pactl([
      "load-module", "module-remap-source", "source_name=mic", "master=feed.monitor",
    ])
    let server = server
    try #require(
      isTrue(within: 5000) {
        (try? server.pactl(["list", "cards"]).contains("Active Profile: a2dp-sink")) ?? false
      })
  }

  var environment: [String: String?] {
    server.environment.merging([
      "PULSE_SERVER": server.address, "XDG_STATE_HOME": folder.file("state"),
      "XDG_CONFIG_HOME": folder.file("config"),
    ]) { $1 }.mapValues { $0 }
  }

  func record(_ name: String, _ options: [String]) throws -> RunningProgram {
    try RunningProgram(
      [
        "\(ProgramRun.builtProducts)/stillstage", "record", "-o", folder.file(name), "--codec",
        "float",
      ] + options, environment: environment)
  }

  func hasProfile(_ name: String) -> Bool {
    (try? server.pactl(["list", "cards"]).contains("Active Profile: \(name)")) ?? false
  }

  /// The number of the codec in use.
  var codec: String {
    let answer = try? server.pactl([
      "send-message", "/card/bluez_card.00_11_22_33_44_55/bluez", "get-codec",
    ])
    return (answer ?? "").filter { $0.isNumber }
  }
}

extension CaptureServerTests {
  @Suite(
    .serialized, .enabled(if: CompiledFixture.isPossible, "there is no C compiler"),
    .enabled(if: PrivatePipeWireServer.missingPackage == nil, "PipeWire is not installed"))
  struct PipeWireHeadsetTests {
    /// PipeWire's numbers of the codecs SBC and mSBC.
    private static let (sbc, msbc) = ("1", "257")

    @Test(arguments: [nil, SIGTERM, SIGKILL])
    func theProfileAndTheCodecAreRestored(_ signal: Int32?) throws {
      let place = try PipeWireHeadset("headset")
      defer { place.server.stop() }
      let program = try place.record(
        "a.wav", ["--bluetooth", "best"] + (signal == nil ? ["--seconds", "2"] : []))
      #expect(isTrue(within: 8000) { place.hasProfile("headset-head-unit") })
      #expect(isTrue(within: 3000) { place.codec == Self.msbc }, "\(place.codec)")
      if let signal {
        sleepMilliseconds(800)
        kill(program.pid, signal)
      }
      _ = program.wait(seconds: 10)
      if signal == SIGKILL {
        #expect(place.hasProfile("headset-head-unit"))
        let next = try place.record("b.wav", ["--seconds", "0.3", "--input", "mic"])
        #expect(next.wait(seconds: 15) == 0, "\(next.lines.map(\.text))")
      } else {
        #expect(try FloatWAV(reading: place.folder.file("a.wav")).channels.count == 1)
      }
      #expect(isTrue(within: 1000) { place.hasProfile("a2dp-sink") && place.codec == Self.sbc })
    }

    @Test func theBestCodecIsChosenAlthoughItIsAnnouncedLate() throws {
      let place = try PipeWireHeadset("slow")
      defer { place.server.stop() }
      let program = try place.record("a.wav", ["--bluetooth", "best"])
      #expect(isTrue(within: 10000) { place.codec == Self.msbc }, "\(place.codec)")
      kill(program.pid, SIGTERM)
      _ = program.wait(seconds: 10)
    }

    @Test func aHeadsetWithoutAMicrophoneIsReplaced() throws {
      let place = try PipeWireHeadset("broken")
      defer { place.server.stop() }
      let program = try place.record("a.wav", ["--bluetooth", "hfp", "--seconds", "0.5"])
      #expect(program.wait(seconds: 20) == 0)
      let text = program.lines.map(\.text)
      #expect(
        text.contains {
          $0.contains("no Bluetooth microphone is used: ") && $0.hasSuffix("reconnect the device")
        }, "\(text)")
      #expect(try FloatWAV(reading: place.folder.file("a.wav")).channels.count == 2)
      #expect(isTrue(within: 1000) { place.hasProfile("a2dp-sink") })
    }
  }
}
