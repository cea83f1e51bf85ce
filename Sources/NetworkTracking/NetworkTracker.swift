// SPDX-License-Identifier: Apache-2.0

/// A head tracker that sends its poses over UDP.
public struct NetworkTracker: Sendable, Equatable {
  public enum Sender: Sendable, Equatable {
    case osc(OSCPreset)
    /// OpenTrack's "UDP over network" output: six doubles.
    case opentrack(AngleSigns)
    /// FreePIE's phone application.
    case freepie(AngleSigns)
  }

  public var sender: Sender
  public var address: ListeningAddress
  /// The UDP port, 1 to 65535.
  public var port: Int

  public init(_ sender: Sender, at address: ListeningAddress = .loopback, port: Int) {
    self.sender = sender
    self.address = address
    self.port = port
  }

  /// Parses `osc:[ADDRESS:]PORT`, `opentrack:[ADDRESS:]PORT` or `freepie:[ADDRESS:]PORT`, each
  /// optionally followed by `:PRESET`.
  ///
  /// - Parameter preset: the preset if the text contains none; nil for the protocol's default.
  /// - Returns: nil if the text does not begin with `osc:`, `opentrack:` or `freepie:`.
  /// - Throws: `badAddress` if the address, the port or the number of parts is invalid;
  ///   `unknownPreset` if the protocol has no such preset.
  public init?(_ text: String, preset: String? = nil) throws(NetworkTrackerError) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let name = text[..<colon]
    guard ["osc", "opentrack", "freepie"].contains(name) else { return nil }
    var words = Self.words(text[text.index(after: colon)...])
    var address = ListeningAddress.loopback
    if let first = words.first, let named = ListeningAddress(first) {
      address = named
      words.removeFirst()
    }
    guard (1...2).contains(words.count), words[0].utf8.allSatisfy({ 48...57 ~= $0 }),
      let port = Int(words[0]), (1...65535).contains(port)
    else { throw .badAddress(text) }
    (self.address, self.port) = (address, port)
    let preset = words.count == 2 ? String(words[1]) : preset
    switch name {
    case "osc": sender = .osc(try Self.choice(preset, .ypr))
    case "opentrack": sender = .opentrack(try Self.choice(preset, .rightUp))
    default: sender = .freepie(try Self.choice(preset, .rightUp))
    }
  }

  /// Returns the parts between colons. An address in brackets is one part.
  private static func words(_ text: Substring) -> [Substring] {
    guard text.first == "[", let end = text.firstIndex(of: "]") else {
      return text.split(separator: ":", omittingEmptySubsequences: false)
    }
    let address = text[...end]
    let rest = text[text.index(after: end)...]
    guard rest.first == ":" else { return [text] }
    return [address] + rest.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
  }

  private var name: String {
    switch sender {
    case .osc: "osc"
    case .opentrack: "opentrack"
    case .freepie: "freepie"
    }
  }

  /// The name of the preset; nil for the protocol's default.
  private var chosenPreset: String? {
    switch sender {
    case .osc(let preset): preset == .ypr ? nil : preset.rawValue
    case .opentrack(let signs), .freepie(let signs): signs == .rightUp ? nil : signs.rawValue
    }
  }

  /// The protocol and the address at which this computer listens, such as "OSC on 127.0.0.1:9000".
  public var text: String {
    let name =
      switch sender {
      case .osc: "OSC"
      case .opentrack: "OpenTrack"
      case .freepie: "FreePIE"
      }
    return "\(name) on \(address.text(port: port))"
  }

  /// A note for the user if nothing arrives.
  public var silenceNote: String {
    let place = "nothing has arrived at \(address.text(port: port))"
    return switch address {
    case .loopback:
      "\(place); to receive from a phone or another computer, use "
        + "\(name):any:\(port)\(chosenPreset.map { ":\($0)" } ?? "")"
    case .any, .address:
      "\(place); check the target address and port of the sender, and the firewall"
    }
  }

  /// A note for the user if messages arrive, but none yields a pose.
  ///
  /// - Parameter unread: a description of the first message, such as "/position with 3 arguments".
  func unreadNote(_ unread: String) -> String {
    "\(unread) arrived at \(address.text(port: port)), but \(expectation)"
  }

  private var expectation: String {
    switch sender {
    case .osc(let preset):
      "the preset \(preset.rawValue) expects \(preset.expectation); choose another preset ("
        + OSCPreset.allCases.map(\.rawValue).joined(separator: ", ") + ") or change the sender"
    case .opentrack:
      "OpenTrack sends 48 bytes with a pose; choose the output 'UDP over network' in OpenTrack"
    case .freepie:
      "FreePIE sends at least 14 bytes with an orientation; turn on the orientation in the sender"
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

/// The directions in which a sender's yaw and pitch are positive.
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
  /// The port cannot be opened. The first text is the address and the port.
  case cannotListen(String, reason: String)
  /// The address does not belong to this computer. The text is the address and the port.
  case notOurAddress(String)
  case badTarget(String)
  /// The host has no known address.
  case unknownHost(String)
}

extension NetworkTrackerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .badAddress(let text):
      "'\(text)' is not a network tracker; give osc:[ADDRESS:]PORT, opentrack:[ADDRESS:]PORT or "
        + "freepie:[ADDRESS:]PORT, such as osc:9000 or osc:any:9000; ADDRESS is an IPv4 address, "
        + "an IPv6 address in brackets, or 'any', and PORT is from 1 to 65535"
    case .unknownPreset(let name, let known):
      "unknown preset '\(name)'; choose from: \(known.joined(separator: ", "))"
    case .cannotListen(let place, let reason):
      "cannot listen on \(place) (UDP): \(reason); choose another port, or quit any "
        + "program that is using this one"
    case .notOurAddress(let place):
      "cannot listen on \(place) (UDP): this computer does not have that address; give one of "
        + "its own addresses, or 'any' for all of them"
    case .badTarget(let text):
      "'\(text)' is not an OSC target; give osc://HOST:PORT, such as osc://localhost:9000"
    case .unknownHost(let host):
      "cannot find the host '\(host)'; check its name, or give its IP address"
    }
  }
}
