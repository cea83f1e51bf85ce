// SPDX-License-Identifier: Apache-2.0

import Laboratory
import System
import TestSupport

/// A private server with a microphone, and a folder for files and state. The server's sink "ears"
/// is of an unknown kind.
struct CommandPlace {
  private static let program = "\(ProgramRun.builtProducts)/stillstage"

  let server: PrivatePulseServer
  let microphone: VirtualMicrophone
  let folder = TemporaryFolder()

  /// - Parameter change: changes the microphone, which has four channels.
  init(_ change: (inout VirtualMicrophone.Form) -> Void = { _ in }) throws {
    server = try PrivatePulseServer()
    var form = VirtualMicrophone.Form()
    change(&form)
    microphone = try VirtualMicrophone(server, form)
    try server.pactl(["set-default-source", "mic"])
  }

  var environment: [String: String?] {
    [
      "PULSE_SERVER": server.address, "XDG_STATE_HOME": folder.file("state"),
      "XDG_CONFIG_HOME": folder.file("config"),
    ]
  }

  func run(_ arguments: [String]) throws -> ProgramRun {
    try ProgramRun.of(Self.program, arguments, environment: environment)
  }

  func start(_ arguments: [String], hasTerminal: Bool = false) throws -> RunningProgram {
    try RunningProgram(
      [Self.program] + arguments, environment: environment, hasTerminal: hasTerminal)
  }

  /// Loads a sink that leads to headphones, and makes it the default. Returns its module.
  func plugHeadphones() throws -> Int {
    let answer = try server.pactl([
      "load-module", "module-null-sink", "sink_name=phones", "rate=48000", "channels=2",
      "norewinds=1", "sink_properties=device.form_factor=headphone",
    ])
    try server.pactl(["set-default-sink", "phones"])
    return Int(answer.prefix { $0.isNumber }) ?? -1
  }

  func text(_ name: String) throws -> String {
    String(decoding: try SystemFile.contents(folder.file(name), limit: 1 << 20), as: UTF8.self)
  }

  /// Returns whether the event log events.jsonl contains this text.
  func hasEvent(_ text: String) -> Bool {
    (try? self.text("events.jsonl").contains(text)) ?? false
  }

  func end() {
    microphone.stop()
    server.stop()
  }
}
