// SPDX-License-Identifier: Apache-2.0

/// The characters of the drawing, for terminals with and without UTF-8. Each takes one column.
package struct Symbols: Sendable {
  package let isUTF8: Bool
  let ring: String
  let source: String
  let raisedSource: String
  let loweredSource: String
  let front: String
  let bar: String
  let track: String
  let hold: String
  let knob: String
  let middle: String
  let line: String
  let done: String
  /// A line in eight directions, anticlockwise from the front in steps of 45 degrees.
  let strokes: [String]
  /// Arrowheads in the same directions.
  let arrows: [String]

  package static let utf8 = Symbols(
    isUTF8: true, ring: "·", source: "●", raisedSource: "▲", loweredSource: "▼", front: "▲",
    bar: "█", track: "─", hold: "│", knob: "◆", middle: "┼", line: "─", done: "━",
    strokes: ["│", "╲", "─", "╱", "│", "╲", "─", "╱"],
    arrows: ["▲", "◤", "◀", "◣", "▼", "◢", "▶", "◥"])
  package static let ascii = Symbols(
    isUTF8: false, ring: ".", source: "o", raisedSource: "^", loweredSource: "v", front: "^",
    bar: "#", track: "-", hold: "|", knob: "O", middle: "+", line: "-", done: "=",
    strokes: ["|", "\\", "-", "/", "|", "\\", "-", "/"],
    arrows: ["^", "\\", "<", "/", "v", "\\", ">", "/"])

  /// Returns the index of the direction that is nearest to an angle in degrees, anticlockwise from
  /// the front.
  static func direction(_ degrees: Double) -> Int {
    let steps = (degrees / 45).rounded()
    return ((Int(steps) % 8) + 8) % 8
  }
}
