// SPDX-License-Identifier: Apache-2.0

/// A head tracker on the network: its protocol, port and sign convention.
public struct NetworkTracker: Sendable, Equatable {
  public enum Sender: Sendable, Equatable {
    case osc(OSCPreset)
    /// OpenTrack's "UDP over network" output: six doubles.
    case opentrack(AngleSigns)
    /// FreePIE's phone application.
    case freepie(AngleSigns)
  }

  public var sender: Sender
  /// The UDP port, 1 to 65535.
  public var port: Int

  public init(_ sender: Sender, port: Int) {
    self.sender = sender
    self.port = port
  }

  /// Parses `osc:PORT`, `opentrack:PORT` or `freepie:PORT`, each optionally followed by `:PRESET`.
  ///
  /// - Parameters:
  ///   - text: the text to parse.
  ///   - preset: the preset if the text contains none; nil for the protocol's default.
  /// - Returns: nil if the text does not begin with `osc:`, `opentrack:` or `freepie:`, because it
  ///   may then be another kind of ID.
  /// - Throws: `badAddress` if the port after the colon is missing or invalid, or if there are too
  ///   many parts; `unknownPreset` if the protocol has no such preset.
  public init?(_ text: String, preset: String? = nil) throws(NetworkTrackerError) {
    let words = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let name = words.first, ["osc", "opentrack", "freepie"].contains(name), words.count > 1
    else { return nil }
    guard words.count <= 3, let port = Int(words[1]), (1...65535).contains(port) else {
      throw .badAddress(text)
    }
    self.port = port
    let preset = words.count == 3 ? words[2] : preset
    switch name {
    case "osc": sender = .osc(try Self.choice(preset, .ypr))
    case "opentrack": sender = .opentrack(try Self.choice(preset, .rightUp))
    default: sender = .freepie(try Self.choice(preset, .rightUp))
    }
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String?, _ usual: Choice
  ) throws(NetworkTrackerError) -> Choice where Choice.RawValue == String {
    guard let name else { return usual }
    guard let choice = Choice(rawValue: name) else {
      throw .unknownPreset(name, known: Choice.allCases.map(\.rawValue))
    }
    return choice
  }
}

/// The directions in which a sender's yaw and pitch are positive. Programs differ, so the user can
/// choose them.
public enum AngleSigns: String, Sendable, CaseIterable {
  case rightUp = "right-up"
  case rightDown = "right-down"
  case leftUp = "left-up"
  case leftDown = "left-down"

  var yaw: Double { self == .leftUp || self == .leftDown ? 1 : -1 }
  var pitch: Double { self == .rightUp || self == .leftUp ? 1 : -1 }
}

public enum NetworkTrackerError: Error, Sendable, Equatable {
  case badAddress(String)
  case unknownPreset(String, known: [String])
  /// The port cannot be opened, for example because it is in use or not permitted.
  case cannotListen(port: Int, reason: String)
  case badTarget(String)
  /// The host name has no known address.
  case unknownHost(String)
}

extension NetworkTrackerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .badAddress(let text):
      "'\(text)' is not a network tracker; give osc:PORT, opentrack:PORT or freepie:PORT, "
        + "such as osc:9000"
    case .unknownPreset(let name, let known):
      "unknown preset '\(name)'; choose from: \(known.joined(separator: ", "))"
    case .cannotListen(let port, let reason):
      "cannot listen on UDP port \(port): \(reason); choose another port, or quit any "
        + "program that is using this one"
    case .badTarget(let text):
      "'\(text)' is not an OSC target; give osc://HOST:PORT, such as osc://localhost:9000"
    case .unknownHost(let host):
      "cannot find the host '\(host)'; check its name, or give its IP address"
    }
  }
}
