// SPDX-License-Identifier: Apache-2.0

import ScreenView

/// One part of a line that may be too long for the terminal.
package struct LinePart: Equatable, Sendable {
  package let text: String
  /// Parts with a higher rank are left out earlier.
  package let rank: Int

  package init(_ text: String, rank: Int) { (self.text, self.rank) = (text, rank) }
}

/// A line whose parts are separated by two spaces. `fitted(to:)` leaves parts out if the line is
/// too long.
package struct FittedLine: Equatable, Sendable {
  private let parts: [LinePart]

  /// Creates a line. Parts without text are ignored.
  package init(_ parts: [LinePart]) { self.parts = parts.filter { !$0.text.isEmpty } }

  /// The line with all parts.
  package var full: String { Self.joined(parts) }

  /// Returns the line in at most `width` columns. Of two parts with the same rank, the later one is
  /// left out first. If the last remaining part is too long, its end is cut off.
  package func fitted(to width: Int) -> String {
    var kept = parts
    while kept.count > 1, TextWidth.of(Self.joined(kept)) > width {
      let rank = kept.map(\.rank).max() ?? 0
      guard let index = kept.lastIndex(where: { $0.rank == rank }) else { break }
      kept.remove(at: index)
    }
    return TextWidth.prefix(Self.joined(kept), max(0, width))
  }

  private static func joined(_ parts: [LinePart]) -> String {
    parts.map(\.text).joined(separator: "  ")
  }
}
