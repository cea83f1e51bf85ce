// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import TestSupport
import Testing

/// The output of a card with a port for headphones, which is active, and one for a loudspeaker.
private protocol PortedOutput {
  var server: any ModuleServer { get }
  var environment: [String: String?] { get }
  /// Selects a port.
  func select(_ port: String) throws
  /// Announces a change of the card that leaves its port as it is.
  func changeOtherwise() throws
  func stop()
}

/// A null sink of PulseAudio with ports.
private struct PulseCard: PortedOutput {
  let pulse: PrivatePulseServer
  var server: any ModuleServer { pulse }
  var environment: [String: String?] { ["PULSE_SERVER": pulse.address] }

  init() throws {
    var form = PrivatePulseServer.Form()
    form.preloadedLibrary = try CompiledFixture.pulsePorts.get()
    pulse = try PrivatePulseServer(form)
    try pulse.pactl([
      "load-module", "module-null-sink", "sink_name=phones", "rate=48000", "norewinds=1",
    ])
  }

  func select(_ port: String) throws { try pulse.pactl(["set-sink-port", "phones", port]) }
  func changeOtherwise() throws { try pulse.pactl(["set-sink-volume", "phones", "90%"]) }
  func stop() { pulse.stop() }
}

/// A device of PipeWire with routes, and its sink.
private struct PipeWireCard: PortedOutput {
  let pipeWire: PrivatePipeWireServer
  let card: RunningProgram
  var server: any ModuleServer { pipeWire }
  var environment: [String: String?] {
    pipeWire.environment.merging(["PULSE_SERVER": pipeWire.address]) { $1 }.mapValues { $0 }
  }

  init() throws {
    pipeWire = try PrivatePipeWireServer()
    card = try RunningProgram(
      [try CompiledFixture.pipeWireCard.get()],
      environment: pipeWire.environment.mapValues { $0 }, input: .pipe)
    _ = try card.line(with: "ready")
    let server = pipeWire
    #expect(
      isTrue(within: 5000) {
        (try? server.pactl(["list", "sinks"]).contains("Active Port: headphones")) ?? false
      })
  }

  func select(_ port: String) { card.type(port + "\n") }
  func changeOtherwise() { card.type("volume\n") }
  func stop() { pipeWire.stop() }
}

extension CaptureServerTests {
  /// Listening on headphones whose card changes to a loudspeaker.
  @Suite(
    .serialized, .enabled(if: CompiledFixture.isPossible, "there is no C compiler"),
    .enabled(if: PrivatePipeWireServer.missingPackage == nil, "PipeWire is not installed"))
  struct PortChangeTests {
    private static let program = "\(ProgramRun.builtProducts)/stillstage"

    @Test func aChangeOfThePortOfPulseAudioEndsListening() throws {
      let card = try PulseCard()
      defer { card.stop() }
      try check(card, output: "pulse")
    }

    @Test(arguments: ["pulse", "pipewire"])
    func aChangeOfTheRouteOfPipeWireEndsListening(_ output: String) throws {
      let card = try PipeWireCard()
      defer { card.stop() }
      try check(card, output: output)
    }

    private func check(_ card: some PortedOutput, output: String) throws {
      let microphone = try VirtualMicrophone(card.server)
      defer { microphone.stop() }
      let folder = TemporaryFolder()
      let (path, events) = (folder.file("a.wav"), folder.file("events.jsonl"))
      let home = [
        "XDG_STATE_HOME": folder.file("state"), "XDG_CONFIG_HOME": folder.file("config"),
      ]
      let begin = monotonicNow()
      let program = try RunningProgram(
        [
          Self.program, "record", "-o", path, "--input", "mic", "--mic-format", "ambix",
          "--codec", "float", "--tracker", "none", "--listen", "auto", "--sink", "phones",
          "--listen-output", output, "--events", events,
        ], environment: card.environment.merging(home) { $1 })
      func hasEvent(_ text: String) -> Bool {
        let log = try? SystemFile.contents(events, limit: 1 << 20)
        return log.map { String(decoding: $0, as: UTF8.self).contains(text) } ?? false
      }
      #expect(
        isTrue(within: 20_000) { hasEvent(#""state":"on""#) }, "\(program.lines.map(\.text))")
      sleepMilliseconds(1000)
      try card.changeOtherwise()
      sleepMilliseconds(700)
      #expect(!hasEvent(#""state":"off""#), "\(program.lines.map(\.text))")
      try card.select("speaker")
      // The start of pactl does not count.
      let changed = monotonicNow()
      #expect(isTrue(within: 3000) { hasEvent(#""state":"off""#) })
      let milliseconds = Double(monotonicNow() - changed) * 1e-6
      print("\(type(of: card)), \(output): listening has ended after \(milliseconds) ms")
      #expect(milliseconds < 200)
      #expect(hasEvent("no longer leads to headphones"))
      let before = monotonicNow()
      sleepMilliseconds(1000)
      kill(program.pid, SIGTERM)
      #expect(program.wait(seconds: 5) == 143)
      let seconds = Double(try FloatWAV(reading: path).channels[0].count) / 48_000
      let ended = Double(monotonicNow() - begin) * 1e-9
      #expect(seconds > Double(before - changed) * 1e-9 + 2.5 && seconds < ended, "\(seconds)")
    }
  }
}
