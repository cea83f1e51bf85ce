// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport

/// A running `stillstage` on a terminal, as its listener sees it.
final class Listener {
  let program: RunningProgram
  let folder = TemporaryFolder()
  private var columns: Int
  private var start = 0

  /// The keys that send more than one byte.
  enum Key {
    static let (up, down, right, left) = ("\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D")
    static let (pageUp, pageDown) = ("\u{1B}[5~", "\u{1B}[6~")
    static let escape = "\u{1B}"
    static let (suspend, interrupt) = ("\u{1A}", "\u{3}")
  }

  /// - Parameters:
  ///   - words: the program and its arguments.
  ///   - server: the sound server's address.
  init(
    _ words: [String], on server: String, columns: Int = 160, environment: [String: String] = [:]
  ) throws {
    self.columns = columns
    let home = ["PULSE_SERVER": server, "HOME": folder.path, "TERM": "xterm", "LC_ALL": "C"]
    // The program starts when the terminal has its size.
    program = try RunningProgram(
      ["sh", "-c", "read go; exec \"$@\"", "sh"] + words,
      environment: home.merging(environment, uniquingKeysWith: { $1 }), input: .terminal)
    program.resize(columns: columns, rows: 40)
    program.type("\n")
    _ = waitUntil(seconds: 5) { !program.bytes.isEmpty }
  }

  convenience init(
    playing path: String, _ arguments: [String] = [], on server: String, columns: Int = 160,
    environment: [String: String] = [:]
  ) throws {
    let play = ["play", path, "--tracker", "none", "--loudness", "off"]
    try self.init(
      [Product.stillstage] + play + arguments, on: server, columns: columns,
      environment: environment)
  }

  /// Makes a quiet stereo file of five minutes, and returns its path.
  static func longFile(_ folder: TemporaryFolder) throws -> String {
    let path = folder.file("long.wav")
    let run = try ProgramRun.of(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "anoisesrc=r=48000:a=0.02:d=300", "-ac", "2",
        "-metadata", "title=Long", "-metadata", "artist=Noise", path,
      ])
    guard run.exitCode == 0 else {
      throw RunningProgram.Failure.cannotStart("ffmpeg", reason: run.errors)
    }
    return path
  }

  /// Changes the width. The screen is empty afterwards.
  func resize(to columns: Int) {
    self.columns = columns
    start = program.bytes.count
    program.resize(columns: columns, rows: 40)
  }

  var screen: TerminalScreen {
    TerminalScreen(Array(program.bytes[start...]), columns: columns)
  }

  /// The last row that has text.
  var lastRow: String { screen.rows.last { !$0.isEmpty } ?? "" }

  /// Everything that was typed.
  private(set) var typed = ""

  func type(_ keys: String) {
    typed += keys
    program.type(keys)
  }

  /// Whether the program draws on the terminal's alternate screen.
  var isFullScreen: Bool { screen.isAlternate }

  /// Returns whether a row of the screen contains `text`.
  func shows(_ text: String) -> Bool { screen.rows.contains { $0.contains(text) } }

  /// Waits until a condition on the screen holds.
  func waits(
    for what: String, seconds: Double = 10, _ condition: (TerminalScreen) -> Bool
  ) throws {
    guard
      waitUntil(
        seconds: seconds,
        {
          usleep(20_000)
          return condition(screen)
        })
    else {
      throw RunningProgram.Failure.nothingFits(
        waitedSeconds: seconds, lines: ["wanted: \(what)"] + screen.rows)
    }
  }

  /// Waits until the last row contains a text.
  func sees(_ text: String, seconds: Double = 10) throws {
    try waits(for: text, seconds: seconds) { screen in
      screen.rows.last { !$0.isEmpty }?.contains(text) ?? false
    }
  }

  /// Waits until a row contains a text.
  func reads(_ text: String, seconds: Double = 10) throws {
    try waits(for: text, seconds: seconds) { $0.rows.contains { $0.contains(text) } }
  }

  /// Waits until the full-screen view shows its keys.
  func seesView(seconds: Double = 10) throws {
    try waits(for: "the full-screen view", seconds: seconds) { screen in
      isFullScreen && screen.rows.contains { $0.contains("c recentre") }
    }
  }

  /// The position in the last row, in seconds; nil if there is none.
  var position: Int? {
    guard let word = lastRow.split(separator: " ").first else { return nil }
    let parts = word.split(separator: ":").map { Int($0) }
    guard parts.count == 2, let minutes = parts[0], let seconds = parts[1] else { return nil }
    return minutes * 60 + seconds
  }
}
