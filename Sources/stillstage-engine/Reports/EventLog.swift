// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import FoundationEssentials
import Glibc

/// Implements `--events FILE.jsonl`: writes each event as one line with a JSON object.
final class EventLog {
  private let descriptor: Int32?
  private let start = monotonic_nanoseconds()
  private let encoder = JSONEncoder()

  /// Opens the log and truncates an existing file.
  ///
  /// - Parameter path: nil for no log.
  init(path: String?) throws(CommandFailure) {
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let path else {
      descriptor = nil
      return
    }
    let opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard opened >= 0 else {
      let reason = String(cString: strerror(errno))
      throw CommandFailure("cannot write the events to '\(path)': \(reason); choose another file")
    }
    descriptor = opened
  }

  deinit { if let descriptor { close(descriptor) } }

  func warning(_ text: String) { write("warning", ["message": .text(text)]) }

  enum Value: Encodable {
    case text(String)
    case number(Double)
    case integer(Int)
    case truth(Bool)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      case .integer(let integer): try container.encode(integer)
      case .truth(let truth): try container.encode(truth)
      }
    }
  }

  /// Writes an event and its time `t`, in seconds since the log was opened. An event with a value
  /// that is NaN or infinite is not written.
  func write(_ event: String, _ values: [String: Value] = [:]) {
    guard let descriptor else { return }
    var object = values
    object["event"] = .text(event)
    object["t"] = .number(Double(monotonic_nanoseconds() - start) * 1e-9)
    guard let line = try? encoder.encode(object) else { return }
    writeText(String(decoding: line, as: UTF8.self) + "\n", to: descriptor)
  }
}
