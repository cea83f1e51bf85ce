// SPDX-License-Identifier: Apache-2.0

/// Draws the full-screen view of `play` and `demo`.
package struct ListeningView {
  /// The size of the smallest terminal on which the complete view is drawn.
  package static let smallest = (columns: 60, rows: 16)

  private let state: ListeningState
  private let symbols: Symbols

  package init(_ state: ListeningState, symbols: Symbols) {
    (self.state, self.symbols) = (state, symbols)
  }

  /// Draws the view for a terminal of this size.
  package func draw(columns: Int, rows: Int) -> Canvas {
    var canvas = Canvas(columns: columns, rows: rows)
    let isLarge = columns >= Self.smallest.columns && rows >= Self.smallest.rows
    isLarge ? drawAll(&canvas) : drawEssentials(&canvas)
    if !symbols.isUTF8 { canvas.reduceToASCII() }
    return canvas
  }

  private func drawAll(_ canvas: inout Canvas) {
    let (columns, rows) = (canvas.columns, canvas.rows)
    drawTitle(&canvas)
    let height = rows - 5
    let planWidth = min(columns * 9 / 20, height * 2 + 8)
    canvas.put(
      PlanView(state: state, symbols: symbols).draw(columns: planWidth, rows: height), row: 2,
      column: 0)
    let start = planWidth + 1
    canvas.put(details(columns: columns - start, rows: height), row: 2, column: start)
    drawMessage(&canvas, row: rows - 3)
    for (row, line) in packedKeys(width: columns).enumerated() {
      canvas.put(line, row: rows - 2 + row, column: 0, style: .faint)
    }
  }

  /// Draws a few lines of text, for terminals that are too small for the complete view.
  private func drawEssentials(_ canvas: inout Canvas) {
    let smallest = Self.smallest
    let lines: [(String, CellStyle)] =
      [
        ([state.time, state.activity].filter { !$0.isEmpty }.joined(separator: " "), .strong),
        (state.title, .plain), (PlanView(state: state, symbols: symbols).caption.text, .head),
        (state.advice ?? state.messages.last ?? "", .message),
        ("enlarge to \(smallest.columns) x \(smallest.rows) for more; f closes, q quits", .faint),
      ] + state.facts.map { ("\($0.label) \($0.text)", $0.style) }
    for (row, line) in lines.filter({ !$0.0.isEmpty }).enumerated() {
      canvas.put(line.0, row: row, column: 0, style: line.1)
    }
  }

  private func drawTitle(_ canvas: inout Canvas) {
    let time = [state.activity, state.volume, state.time].filter { !$0.isEmpty }.joined(
      separator: "  ")
    let width = TextWidth.of(time)
    canvas.put(
      state.title, row: 0, column: 0, style: .strong, limit: max(0, canvas.columns - width - 2))
    canvas.put(
      time, row: 0, column: max(0, canvas.columns - width),
      style: state.activity.isEmpty ? .strong : .warning)
    let played = Int(((state.fraction ?? 0) * Double(canvas.columns)).rounded())
    for column in 0..<canvas.columns {
      let isPlayed = column < played
      canvas.put(
        isPlayed ? symbols.done : symbols.line, row: 1, column: column,
        style: isPlayed ? .head : .faint)
    }
  }

  private func drawMessage(_ canvas: inout Canvas, row: Int) {
    guard let text = state.advice ?? state.messages.last else { return }
    let style: CellStyle = state.advice == nil ? .warning : .message
    canvas.put(text, row: row, column: 0, style: style, limit: canvas.columns)
  }

  /// Draws the right part of the view: levels, angles and facts, or the list of keys.
  private func details(columns: Int, rows: Int) -> Canvas {
    var canvas = Canvas(columns: columns, rows: rows)
    if let help = state.help {
      for (row, line) in help.enumerated() { canvas.put(line, row: row, column: 0) }
      return canvas
    }
    let gauges = Gauges(symbols: symbols, columns: columns)
    gauges.level("left", state.peaks.0, held: state.held.0, &canvas, row: 0)
    gauges.level("right", state.peaks.1, held: state.held.1, &canvas, row: 1)
    let facts = facts(rows: rows - 5)
    let gap = rows - 5 - facts.count >= 2 ? 1 : 0
    drawAngles(gauges, &canvas, row: 2 + gap)
    var row = 5 + 2 * gap
    for fact in facts {
      canvas.put(fact.label, row: row, column: 0, style: .faint)
      canvas.put(fact.text, row: row, column: Gauges.label, style: fact.style)
      row += 1
    }
    return canvas
  }

  private func drawAngles(_ gauges: Gauges, _ canvas: inout Canvas, row: Int) {
    var (yaw, pitch, roll) = (0.0, 0.0, 0.0)
    var isKnown = false
    if case .pose(let a, let b, let c) = state.head {
      (yaw, pitch, roll, isKnown) = (a, b, c, true)
    }
    let isShort = gauges.isNarrow
    gauges.angle(
      "yaw", yaw, limit: 90, ends: ("L", "R"),
      text: isKnown ? AngleText.yaw(yaw, isShort: isShort) : nil, &canvas, row: row)
    gauges.angle(
      "pitch", pitch, limit: 60, ends: ("U", "D"),
      text: isKnown ? AngleText.pitch(pitch, isShort: isShort) : nil, &canvas, row: row + 1)
    gauges.angle(
      "roll", -roll, limit: 60, ends: ("L", "R"),
      text: isKnown ? AngleText.roll(roll, isShort: isShort) : nil, &canvas, row: row + 2)
  }

  /// Returns the facts. If there are more than `rows`, joins pairs of facts that can share a row.
  private func facts(rows: Int) -> [ListeningState.Fact] {
    guard state.facts.count > rows else { return state.facts }
    var facts: [ListeningState.Fact] = []
    for fact in state.facts {
      if let last = facts.last, last.canJoin {
        facts[facts.count - 1] = ListeningState.Fact(
          last.label, "\(last.text), \(fact.text)", style: last.style)
      } else {
        facts.append(fact)
      }
    }
    return facts
  }

  /// Returns at most two lines with the most important keys.
  private func packedKeys(width: Int) -> [String] {
    var lines = [""]
    for key in state.keys {
      let longer = lines[lines.count - 1].isEmpty ? key : "\(lines[lines.count - 1])  \(key)"
      if TextWidth.of(longer) < width {
        lines[lines.count - 1] = longer
      } else if lines.count < 2 {
        lines.append(key)
      }
    }
    return lines
  }
}
