// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Laboratory

/// A private sound server of either kind, with programs that play to it and `stillstage sink`.
///
/// Its first real sink is "ears".
struct SystemWideServer {
  enum Kind: String, CaseIterable {
    case pulseAudio
    case pipeWire
  }

  let environment: [String: String?]
  private let control: ([String]) throws -> String
  private let folder = TemporaryFolder()

  /// Runs `body` with a new server, which is stopped afterwards.
  static func with(_ kind: Kind, _ body: (SystemWideServer) throws -> Void) throws {
    switch kind {
    case .pulseAudio:
      try PrivatePulseServer.withServer { server in
        try body(SystemWideServer(address: server.address, socket: nil) { try server.pactl($0) })
      }
    case .pipeWire:
      try PrivatePipeWireServer.withServer { server in
        let runtime = server.environment["XDG_RUNTIME_DIR"]
        try body(
          SystemWideServer(address: nil, socket: runtime) { try server.pactl($0) })
      }
    }
  }

  /// The first missing Debian package that one of the servers needs; nil if none is missing.
  static var missingPackage: String? {
    PrivatePulseServer.missingPackage ?? PrivatePipeWireServer.missingPackage
  }

  private init(address: String?, socket: String?, control: @escaping ([String]) throws -> String) {
    let runtime = socket ?? folder.path
    environment = [
      "PULSE_SERVER": address ?? "unix:\(runtime)/pulse/native", "PIPEWIRE_REMOTE": nil,
      "XDG_RUNTIME_DIR": runtime, "PIPEWIRE_RUNTIME_DIR": socket, "XDG_CONFIG_HOME": folder.path,
      "XDG_STATE_HOME": folder.path,
    ]
    self.control = control
  }

  /// Runs pactl and returns its output.
  @discardableResult
  func pactl(_ arguments: String...) throws -> String { try control(arguments) }

  /// The server's name for the default sink.
  var defaultSink: String {
    get throws { try String(pactl("get-default-sink").prefix { $0 != "\n" }) }
  }

  /// The names of the sinks.
  var sinks: [String] {
    get throws { try table("sinks").map { $0[1] } }
  }

  /// The sinks that the streams with a number of channels play to, without those of `sink` itself.
  func sinksOfStreams(channels: Int) throws -> [String] {
    let names = Dictionary(try table("sinks").map { ($0[0], $0[1]) }) { $1 }
    return try table("sink-inputs").filter { row in
      row.contains { $0.hasPrefix("s16le \(channels)ch") }
    }.map { names[$0[1]] ?? "" }
  }

  func hasDefault(_ name: String) -> Bool { (try? defaultSink) == name }

  /// Whether a sink is the only one that streams with a number of channels play to.
  func plays(channels: Int, to sink: String) -> Bool {
    (try? sinksOfStreams(channels: channels)) == [sink]
  }

  private func table(_ kind: String) throws -> [[String]] {
    try pactl("list", "short", kind).split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// Starts `stillstage sink` and waits until all its virtual sinks are there.
  func startSink(_ arguments: [String] = []) throws -> RunningProgram {
    let program = try RunningProgram(
      [Product.stillstage, "sink", "--tracker", "none"] + arguments, environment: environment)
    guard waitUntil(seconds: 20, { (try? defaultSink) == "stillstage-7.1" }) else {
      throw RunningProgram.Failure.nothingFits(
        waitedSeconds: 20, lines: program.lines.map(\.text))
    }
    return program
  }

  /// Runs `stillstage sink` with arguments that control the running instance.
  func sink(_ arguments: String...) throws -> ProgramRun {
    try ProgramRun.of(Product.stillstage, ["sink"] + arguments, environment: environment)
  }

  /// Starts a program that plays silence with a number of channels, each sample of 16 bits.
  func startPlaying(channels: Int, properties: [String] = []) throws -> RunningProgram {
    try RunningProgram(
      ["pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--latency-msec=50"]
        + ["--channels=\(channels)"] + properties.map { "--property=" + $0 } + ["/dev/zero"],
      environment: environment)
  }
}
