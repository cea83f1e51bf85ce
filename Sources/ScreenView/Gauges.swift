// SPDX-License-Identifier: Apache-2.0

/// Draws scales for the levels at the ears and the angles of the head, one row each.
struct Gauges {
  let symbols: Symbols
  let columns: Int

  /// The lowest level on the scale, in dBFS.
  static let lowest = -60.0
  /// The number of columns for the label of a row.
  static let label = 9

  /// Whether there is space only for the short forms of the angles.
  var isNarrow: Bool { columns < 42 }

  /// Draws the level at an ear and the held peak, both in dBFS.
  func level(_ name: String, _ peak: Double, held: Double, _ canvas: inout Canvas, row: Int) {
    let number = held < -99 ? "-- dB" : "\(Int(held.rounded())) dB"
    let start = Self.label
    let width = columns - start - 8
    canvas.put(name, row: row, column: 0, style: .faint)
    canvas.put(number, row: row, column: columns - number.count, style: Self.style(of: held))
    guard width >= 8 else { return }
    let filled = cells(peak, width)
    for cell in 0..<width {
      let level = Self.lowest - Self.lowest * Double(cell + 1) / Double(width)
      canvas.put(
        cell < filled ? symbols.bar : symbols.ring, row: row, column: start + cell,
        style: cell < filled ? Self.style(of: level) : .faint)
    }
    let mark = cells(held, width)
    if mark > 0 {
      canvas.put(
        symbols.hold, row: row, column: start + mark - 1, style: Self.style(of: held))
    }
  }

  private func cells(_ level: Double, _ width: Int) -> Int {
    Int((max(0, min(1, 1 - level / Self.lowest)) * Double(width)).rounded())
  }

  static func style(of level: Double) -> CellStyle {
    level > -1.5 ? .alarm : level > -9 ? .warning : .good
  }

  /// Draws an angle in degrees on a scale from `-limit` at the right to `limit` at the left.
  ///
  /// - Parameters:
  ///   - ends: the letters at the left and at the right end of the scale.
  ///   - text: the angle in words; nil if there is no angle.
  func angle(
    _ name: String, _ degrees: Double, limit: Double, ends: (String, String), text: String?,
    _ canvas: inout Canvas, row: Int
  ) {
    canvas.put(name, row: row, column: 0, style: .faint)
    guard let text else {
      canvas.put("--", row: row, column: Self.label, style: .faint)
      return
    }
    let room = min(25, columns - Self.label - (isNarrow ? 16 : 21))
    let width = (room - 1) / 2 * 2 + 1
    let start = Self.label
    if width >= 5 {
      canvas.put(ends.0, row: row, column: start, style: .faint)
      for cell in 0..<width {
        let isMiddle = cell == width / 2
        canvas.put(
          isMiddle ? symbols.middle : symbols.track, row: row, column: start + 1 + cell,
          style: .faint)
      }
      canvas.put(ends.1, row: row, column: start + 1 + width, style: .faint)
      let place = (1 - max(-1, min(1, degrees / limit))) / 2 * Double(width - 1)
      canvas.put(
        symbols.knob, row: row, column: start + 1 + Int(place.rounded()), style: .head)
    }
    canvas.put(text, row: row, column: width >= 5 ? start + width + 3 : start, style: .head)
  }
}
