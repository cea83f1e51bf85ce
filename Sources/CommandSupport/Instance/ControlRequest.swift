// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import Playback

/// A request to a running instance of `sink`.
package enum ControlRequest: Sendable, Equatable {
  case status
  case recentre
  case mode(StageMode)

  private struct Form: Codable {
    var request: String
    var mode: String?
  }

  /// The request as JSON on one line, without a line break.
  package var line: String {
    switch self {
    case .status: jsonLine(Form(request: "status"))
    case .recentre: jsonLine(Form(request: "recentre"))
    case .mode(let mode): jsonLine(Form(request: "mode", mode: mode.rawValue))
    }
  }

  /// Parses a request; nil if the line is not a known request.
  package init?(line: String) {
    guard let form = try? JSONDecoder().decode(Form.self, from: Data(line.utf8)) else {
      return nil
    }
    switch form.request {
    case "status": self = .status
    case "recentre": self = .recentre
    case "mode":
      guard let mode = form.mode.flatMap(StageMode.init) else { return nil }
      self = .mode(mode)
    default: return nil
    }
  }
}

/// A running instance's answer to a request.
package enum ControlAnswer: Sendable, Equatable {
  case done
  case status(SinkRecord)
  /// The request failed, for this reason.
  case error(String)

  private struct Form: Codable {
    var ok: Bool
    var error: String?
    var status: SinkRecord?
  }

  /// The answer as JSON on one line, without a line break.
  package var line: String {
    switch self {
    case .done: jsonLine(Form(ok: true))
    case .status(let record): jsonLine(Form(ok: true, status: record))
    case .error(let reason): jsonLine(Form(ok: false, error: reason))
    }
  }

  /// Parses an answer; nil if the line is not a valid answer.
  package init?(line: String) {
    guard let form = try? JSONDecoder().decode(Form.self, from: Data(line.utf8)) else {
      return nil
    }
    if let status = form.status {
      self = .status(status)
    } else {
      self = form.ok ? .done : .error(form.error ?? "the request failed")
    }
  }
}

/// Returns a value as JSON on one line, without a line break; "{}" if it cannot be encoded.
func jsonLine(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  guard let data = try? encoder.encode(value) else { return "{}" }
  return String(decoding: data, as: UTF8.self)
}
