// SPDX-License-Identifier: Apache-2.0

/// What is known about earphones with a motion sensor.
public struct EarphoneDetails: Sendable, Equatable {
  /// Where the earphones are, or why their sensor cannot be used.
  public enum State: String, Sendable, Equatable {
    case worn
    /// Out of the ears, and not known to be in the case.
    case removed
    case inCase = "in the case"
    /// The sensor's channel cannot be opened, probably because another program uses it.
    case heldByAnotherProgram = "held by another program"
    case unknown
  }

  /// Remaining charge in percent, by the part's name: `left`, `right`, `case`, `headset`.
  public var battery: [String: Int]
  /// The firmware's version; empty if unknown.
  public var firmware: String
  /// The bud whose sensor is in use: `left` or `right`; nil if unknown or for a headset.
  public var bud: String?
  public var state: State
  /// Whether the decoding of these earphones' reports is untested.
  public var isUntested: Bool

  public init(
    battery: [String: Int] = [:], firmware: String = "", bud: String? = nil,
    state: State = .unknown, isUntested: Bool = false
  ) {
    self.battery = battery
    self.firmware = firmware
    self.bud = bud
    self.state = state
    self.isUntested = isUntested
  }
}
