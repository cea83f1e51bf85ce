// SPDX-License-Identifier: Apache-2.0

/// Why a text is no playlist that can be played.
public struct PlaylistError: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1; nil where it is not about one line.
  public var line: Int?
  public var reason: String

  public init(line: Int? = nil, _ reason: String) {
    self.line = line
    self.reason = reason
  }

  public var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}
