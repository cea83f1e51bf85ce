// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// The head from above, and around it the stage, whose front is at the top.
///
/// The stage stands still on the screen, and the head turns. The angle between the nose and a
/// source is therefore the direction of the source relative to the head. If the stage is fixed to
/// the head, or there is no pose, the head faces the top.
struct PlanView {
  let state: ListeningState
  let symbols: Symbols

  /// How far inside the ring a source directly above or below the head is drawn, relative to the
  /// radius. For other sources, this distance is proportional to the magnitude of the elevation.
  private static let shrinking = 0.7

  /// Draws the plan. A cell of the canvas is assumed to be twice as high as it is wide.
  func draw(columns: Int, rows: Int) -> Canvas {
    var canvas = Canvas(columns: columns, rows: rows)
    let plan = Plan(columns: columns, rows: rows - 2)
    guard plan.radius >= 2 else { return canvas }
    drawStage(plan, &canvas)
    drawHead(plan, &canvas)
    if case .noStage = state.head {} else { drawNames(plan, &canvas) }
    let caption = self.caption
    canvas.put(caption.text, row: rows - 1, around: (columns - 1) / 2, style: caption.style)
    return canvas
  }

  private func drawStage(_ plan: Plan, _ canvas: inout Canvas) {
    let steps = Int(14 * plan.radius)
    for step in 0..<steps {
      let place = plan.place(azimuth: 360 * Double(step) / Double(steps), distance: 1)
      canvas.put(symbols.ring, row: place.row, column: place.column, style: .faint)
    }
    if case .noStage = state.head { return }
    canvas.put(
      "\(symbols.front) front \(symbols.front)", row: 0, around: plan.middle, style: .strong)
    for source in state.sources {
      let place = Self.place(source, plan)
      canvas.put(symbol(source), row: place.row, column: place.column, style: .source)
    }
    if state.sources.isEmpty, !state.stageText.isEmpty {
      let place = plan.place(azimuth: 180, distance: 0.62)
      canvas.put(state.stageText, row: place.row, around: plan.middle, style: .source)
    }
  }

  private static func place(
    _ source: ListeningState.Source, _ plan: Plan
  ) -> (row: Int, column: Int) {
    let distance = 1 - shrinking * min(90, abs(source.elevation)) / 90
    return plan.place(azimuth: source.azimuth, distance: distance)
  }

  private func symbol(_ source: ListeningState.Source) -> String {
    if source.elevation > 15 { return symbols.raisedSource }
    return source.elevation < -15 ? symbols.loweredSource : symbols.source
  }

  /// Writes the name of each source next to it, preferably inside the ring. Leaves out a name that
  /// would cover anything other than the ring.
  private func drawNames(_ plan: Plan, _ canvas: inout Canvas) {
    for source in state.sources {
      let place = Self.place(source, plan)
      let width = TextWidth.of(source.name)
      let (before, after) = (place.column - 1 - width, place.column + 2)
      let inward = place.row < plan.centre ? 1 : -1
      let sides =
        place.column < plan.middle
        ? [(place.row, after), (place.row, before)] : [(place.row, before), (place.row, after)]
      let middle = (place.row + inward, place.column - (width - 1) / 2)
      let isCentral = abs(place.column - plan.middle) <= 1
      let places = isCentral ? [middle] + sides : sides
      for (row, column) in places
      where canvas.isFree(row: row, column: column, width: width, except: symbols.ring) {
        canvas.put(source.name, row: row, column: column, style: .source)
        break
      }
    }
  }

  private func drawHead(_ plan: Plan, _ canvas: inout Canvas) {
    let (yaw, style): (Double, CellStyle) =
      switch state.head {
      case .pose(let yaw, _, _): (yaw, .head)
      case .fixed: (0, .head)
      case .unknown, .lost, .noStage: (0, .faint)
      }
    let direction = Symbols.direction(yaw)
    let length = plan.radius * 0.55
    for step in stride(from: 1.0, to: length, by: 0.5) {
      let place = plan.place(azimuth: yaw, distance: step / plan.radius)
      canvas.put(
        symbols.strokes[direction], row: place.row, column: place.column, style: style)
    }
    let nose = plan.place(azimuth: yaw, distance: length / plan.radius)
    canvas.put(symbols.arrows[direction], row: nose.row, column: nose.column, style: style)
    let ears = max(1, plan.radius * 0.22) / plan.radius
    for (name, side) in [("L", 90.0), ("R", -90)] {
      let ear = plan.place(azimuth: yaw + side, distance: ears)
      canvas.put(name, row: ear.row, column: ear.column, style: style)
    }
    canvas.put("O", row: plan.centre, column: plan.middle, style: style)
  }

  /// The text below the plan: the direction of the head, or why the direction is not stated.
  var caption: (text: String, style: CellStyle) {
    switch state.head {
    case .pose(let yaw, _, _): (AngleText.yaw(yaw), .head)
    case .lost(let reason): (reason, .alarm)
    case .unknown(let reason): (reason, .warning)
    case .fixed: ("the stage turns with the head", .plain)
    case .noStage(let reason): (reason, .plain)
    }
  }
}

/// The place of the plan on a canvas. Row 0 is reserved for the word "front".
private struct Plan {
  let middle: Int
  let centre: Int
  /// The radius of the ring, in rows.
  let radius: Double

  init(columns: Int, rows: Int) {
    middle = (columns - 1) / 2
    radius = min(Double(rows - 1) / 2, Double(columns - 3) / 4)
    centre = 1 + Int(radius.rounded())
  }

  /// Returns the cell at an azimuth in degrees and a distance relative to the radius.
  func place(azimuth: Double, distance: Double) -> (row: Int, column: Int) {
    let angle = azimuth * Double.pi / 180
    let forward = cos(angle) * distance * radius
    let left = sin(angle) * distance * radius * 2
    return (centre - Int(forward.rounded()), middle - Int(left.rounded()))
  }
}
