// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
public import SoundServer

/// A Bluetooth device of the sound server, with its profiles.
public struct BluetoothCard: Sendable, Equatable {
  public struct Profile: Sendable, Equatable {
    /// The server's name, such as "handsfree_head_unit" or "headset-head-unit-msbc".
    public var name: String
    /// Whether the profile provides a source for recording.
    public var hasMicrophone: Bool
    public var isAvailable: Bool
    /// The server's preference; higher is better.
    public var priority: Int

    public init(name: String, hasMicrophone: Bool, isAvailable: Bool, priority: Int) {
      (self.name, self.hasMicrophone) = (name, hasMicrophone)
      (self.isAvailable, self.priority) = (isAvailable, priority)
    }

    /// Whether this is a hands-free or headset profile.
    public var isHandsFree: Bool { name.hasPrefix("handsfree") || name.hasPrefix("headset") }
  }

  /// A codec that a profile can use.
  public struct Codec: Sendable, Equatable {
    /// The server's name; with PipeWire, a number.
    public var name: String
    /// The human-readable name, such as "mSBC".
    public var description: String

    public init(name: String, description: String) {
      (self.name, self.description) = (name, description)
    }

    /// The codec's rank by the sound quality of the microphone; higher is better, and 0 means
    /// unknown.
    fileprivate var rank: Int { max(Self.rank(name), Self.rank(description)) }

    private static func rank(_ codec: String) -> Int {
      switch codec.lowercased().filter({ $0.isLetter || $0.isNumber }) {
      case "lc3swb", "lc324khz", "lc3": 4
      case "lc3a127", "aptxswb": 3
      case "msbc": 2
      case "cvsd": 1
      default: 0
      }
    }
  }

  /// The server's name for the card.
  public var name: String
  public var description: String
  public var profiles: [Profile]
  /// The name of the active profile; nil if unknown.
  public var activeProfile: String?

  public init(name: String, description: String, profiles: [Profile], activeProfile: String?) {
    (self.name, self.description) = (name, description)
    (self.profiles, self.activeProfile) = (profiles, activeProfile)
  }

  /// Returns the profile to use for recording: of the available profiles with a microphone, the one
  /// that the server prefers; nil if there is none. With `handsFreeOnly`, only hands-free and
  /// headset profiles count.
  public func microphoneProfile(handsFreeOnly: Bool) -> Profile? {
    profiles.filter { $0.hasMicrophone && $0.isAvailable && (!handsFreeOnly || $0.isHandsFree) }
      .max { $0.priority < $1.priority }
  }

  /// Returns the codec with the best microphone sound; nil if no codec has a known rank.
  public static func best(of codecs: [Codec]) -> Codec? {
    codecs.filter { $0.rank > 0 }.max { $0.rank < $1.rank }
  }

  /// Returns whether a source belongs to this card, judging by the names of both. Returns false for
  /// a monitor.
  public func owns(_ source: Source) -> Bool {
    let address = name.split(separator: ".").last ?? ""
    return !source.isMonitor && source.name.hasPrefix("bluez") && !address.isEmpty
      && source.name.contains(address)
  }
}

/// Reads and changes the profiles and the codecs of Bluetooth cards.
///
/// ## Threading
/// Any thread may call the functions. Each function waits at most 5 s for the server.
public enum BluetoothCards {
  private static let timeout = 5000
  /// The longest wait until a new codec is in use [ns].
  private static let codecTime: Int64 = 3_000_000_000

  /// Returns the cards, in the server's order.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func list(serverAddress: String? = nil) throws(SoundServerError) -> [BluetoothCard]
  {
    try with(serverAddress) { (connection) throws(SoundServerError) in try connection.cards() }
  }

  /// Selects a profile. Returns whether the server confirmed the request.
  public static func setProfile(
    _ profile: String, of card: String, serverAddress: String? = nil
  ) throws(SoundServerError) -> Bool {
    try with(serverAddress) { (connection) throws(SoundServerError) in
      try connection.setProfile(profile, ofCard: card)
    }
  }

  /// Returns the codecs of the active profile; empty if the server does not list any.
  public static func codecs(
    of card: String, serverAddress: String? = nil
  ) throws(SoundServerError) -> [BluetoothCard.Codec] {
    try with(serverAddress) { (connection) throws(SoundServerError) in
      // The answer is a list of objects such as {"name":"mSBC","description":"mSBC"}.
      let answer = try connection.send("list-codecs", nil, to: Self.object(card)) ?? ""
      let names = answer.components(quotedAfter: "name")
      return zip(names, answer.components(quotedAfter: "description")).map {
        BluetoothCard.Codec(name: $0, description: $1)
      }
    }
  }

  /// Returns the name of the codec in use; nil if the server does not report it.
  public static func codec(
    of card: String, serverAddress: String? = nil
  ) throws(SoundServerError) -> String? {
    try with(serverAddress) { (connection) throws(SoundServerError) in
      try codec(of: card, on: connection)
    }
  }

  private static func codec(
    of card: String, on connection: ClientConnection
  ) throws(SoundServerError) -> String? {
    let answer = try connection.send("get-codec", nil, to: Self.object(card))
    return answer.map { $0.filter { $0 != "\"" } }.flatMap {
      $0.isEmpty || $0 == "null" ? nil : $0
    }
  }

  /// Selects a codec. Returns whether the server accepted the request.
  ///
  /// PipeWire confirms the request before carrying it out, and drops the request if the connection
  /// closes in between. The connection therefore stays open until the codec is in use, but for at
  /// most 3 s.
  public static func setCodec(
    _ codec: String, of card: String, serverAddress: String? = nil
  ) throws(SoundServerError) -> Bool {
    let connection = try open(serverAddress)
    defer { connection.close() }
    let isAccepted = try connection.loop.locked { () throws(SoundServerError) in
      try connection.send("switch-codec", "\"\(codec)\"", to: Self.object(card)) != nil
    }
    guard isAccepted else { return false }
    let end = monotonic_nanoseconds() + codecTime
    while monotonic_nanoseconds() < end {
      let now = try connection.loop.locked { () throws(SoundServerError) in
        try self.codec(of: card, on: connection)
      }
      if now == codec { break }
      usleep(20_000)
    }
    return true
  }

  private static func object(_ card: String) -> String { "/card/\(card)/bluez" }

  private static func with<Result>(
    _ address: String?,
    _ body: (ClientConnection) throws(SoundServerError) -> Result
  ) throws(SoundServerError) -> Result {
    let connection = try open(address)
    defer { connection.close() }
    return try connection.loop.locked { () throws(SoundServerError) in try body(connection) }
  }

  private static func open(_ address: String?) throws(SoundServerError) -> ClientConnection {
    try ClientConnection(
      serverAddress: address, applicationName: "Stillstage", timeoutMilliseconds: timeout)
  }
}

extension String {
  /// Returns the JSON strings that follow a key, without their quotation marks.
  fileprivate func components(quotedAfter key: String) -> [String] {
    var found: [String] = []
    let words = split(separator: "\"", omittingEmptySubsequences: false)
    for (index, word) in words.enumerated() where word == key {
      guard index + 2 < words.count, words[index + 1].contains(":") else { continue }
      found.append(String(words[index + 2]))
    }
    return found
  }
}
