// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ScreenView

@Suite struct ListeningViewTests {
  private static let bed = [
    ("FL", 30.0), ("FR", -30), ("FC", 0), ("SL", 110), ("SR", -110),
  ].map { ListeningState.Source(name: $0.0, azimuth: $0.1) }

  private static func state(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) -> ListeningState
  {
    var state = ListeningState()
    state.title = "Artist - Song"
    state.time = "0:03 / 2:00"
    state.fraction = 0.25
    state.head = .pose(yaw: yaw, pitch: pitch, roll: roll)
    state.sources = bed
    state.peaks = (-20, -30)
    state.held = (-12, -18)
    state.facts = [
      ListeningState.Fact("tracker", "100 Hz, 8 ms old"),
      ListeningState.Fact("loudness", "-2.0 dB to -16 LUFS"),
      ListeningState.Fact("queue", "200 ms, latency 213 ms"),
      ListeningState.Fact("HRTF", "default HRTF", canJoin: true),
      ListeningState.Fact("decoder", "magls"), ListeningState.Fact("output", "Headphones"),
      ListeningState.Fact("mix", "cinematic 50 %", canJoin: true),
      ListeningState.Fact("sound", "5.1"),
    ]
    state.keys = ["q quit", "c recentre", "up/down volume", "left/right 10 s", "space pause"]
    return state
  }

  private func lines(
    _ state: ListeningState, _ columns: Int, _ rows: Int, _ symbols: Symbols = .utf8
  ) -> [String] {
    ListeningView(state, symbols: symbols).draw(columns: columns, rows: rows).text
  }

  @Test(arguments: [(60, 16), (61, 17), (80, 24), (100, 30), (200, 60), (300, 20), (60, 100)])
  func everythingIsVisibleFromTheSmallestSizeOn(columns: Int, rows: Int) {
    let text = lines(Self.state(yaw: 32, pitch: 12, roll: -8), columns, rows).joined(
      separator: "\n")
    for part in [
      "Artist - Song", "0:03 / 2:00", "front", "FL", "FR", "SL", "SR", "turned left 32", "up 12",
      "down 8", "100 Hz, 8 ms old", "-2.0 dB to -16 LUFS", "200 ms, latency 213 ms",
      "default HRTF", "magls", "Headphones", "cinematic", "c recentre", "q quit", "-12 dB",
      "-18 dB",
    ] { #expect(text.contains(part), "\(part) is missing in\n\(text)") }
  }

  @Test func noSizeFailsAndNoRowIsTooLong() {
    var state = Self.state(yaw: 170)
    state.title = "ヘッドホン ヘッドホン ヘッドホン ヘッドホン"
    state.advice = "turn"
    for columns in stride(from: 0, through: 72, by: 4) {
      for rows in 0...20 {
        let canvas = ListeningView(state, symbols: .utf8).draw(columns: columns, rows: rows)
        #expect(canvas.cells.count == columns * rows)
        for line in canvas.text { #expect(TextWidth.of(line) <= columns) }
      }
    }
  }

  @Test func aTerminalWithoutUTF8GetsOnlyASCII() {
    var state = Self.state(yaw: 40)
    state.title = "Für Elise"
    let text = lines(state, 100, 30, .ascii).joined()
    #expect(text.allSatisfy { $0.isASCII })
    #expect(text.contains("F?r Elise"))
  }

  @Test func aSmallTerminalShowsTheEssentials() {
    let text = lines(Self.state(yaw: -20), 40, 10)
    #expect(text[0] == "0:03 / 2:00")
    #expect(text.contains("turned right 20"))
    #expect(text.contains { $0.hasPrefix("enlarge to 60 x 16") })
  }

  @Test func theListOfKeysReplacesTheFacts() {
    var state = Self.state()
    state.help = ["c  recentre the stage"]
    let text = lines(state, 80, 24).joined(separator: "\n")
    #expect(text.contains("recentre the stage"))
    #expect(!text.contains("magls"))
  }

  @Test func adviceComesBeforeMessages() {
    var state = Self.state()
    state.messages = ["old", "new"]
    #expect(lines(state, 80, 24).contains("new"))
    state.advice = "press c"
    #expect(lines(state, 80, 24).contains("press c"))
  }

  @Test func theHintsFitOnASmallTerminal() {
    var state = Self.state()
    state.keys = ["Esc close view"]
    #expect(lines(state, 60, 16).contains("Esc close view"))
  }

  // MARK: The plan

  /// The position of a name in the plan, relative to the head: columns to the right, rows down.
  private func place(_ name: String, _ state: ListeningState) -> (x: Int, y: Int)? {
    let rows = PlanView(state: state, symbols: .utf8).draw(columns: 60, rows: 28).text
    func find(_ text: String) -> (Int, Int)? {
      for (y, row) in rows.enumerated() {
        if let range = row.firstRange(of: text) {
          return (row.distance(from: row.startIndex, to: range.lowerBound), y)
        }
      }
      return nil
    }
    guard let head = find("O"), let thing = find(name) else { return nil }
    return (thing.0 - head.0, thing.1 - head.1)
  }

  @Test(arguments: [0.0, 50, -50, 140])
  func theStageStandsStillWhileTheHeadTurns(yaw: Double) throws {
    let state = Self.state(yaw: yaw)
    let (left, right) = (try #require(place("FL", state)), try #require(place("FR", state)))
    #expect(left.x < 0 && right.x > 0 && left.y < 0 && right.y < 0)
    let back = try #require(place("SL", state))
    #expect(back.y > 0)
  }

  @Test(arguments: [
    (0.0, "▲", 0, -1), (90, "◀", -1, 0), (-90, "▶", 1, 0), (180, "▼", 0, 1), (-180, "▼", 0, 1),
    (45, "◤", -1, -1), (-45, "◥", 1, -1),
  ])
  func theNosePointsWhereTheHeadFaces(yaw: Double, arrow: String, x: Int, y: Int) throws {
    var state = Self.state(yaw: yaw)
    state.sources = []
    let rows = PlanView(state: state, symbols: .utf8).draw(columns: 60, rows: 28).text
    // The word "front" has arrows of its own.
    let drawing = rows.dropFirst().joined(separator: "\n")
    #expect(drawing.contains(arrow))
    let ear = try #require(place("R", state))
    // Seen from above, the right ear is clockwise from the nose: (x, y) turns to (-y, x).
    #expect(ear.x.signum() == -y && ear.y.signum() == x)
  }

  @Test(arguments: [
    (30.0, "turned left 30"), (-30.4, "turned right 30"), (1, "faces the front"),
    (-2.9, "faces the front"), (179.6, "turned left 180"),
  ])
  func theCaptionNamesTheSide(yaw: Double, text: String) {
    #expect(PlanView(state: Self.state(yaw: yaw), symbols: .utf8).caption.text == text)
  }

  @Test func signsOfPitchAndRollAreWords() {
    #expect(AngleText.pitch(10) == "looking up 10")
    #expect(AngleText.pitch(-10) == "looking down 10")
    #expect(AngleText.roll(10) == "right ear down 10")
    #expect(AngleText.roll(-10) == "left ear down 10")
  }

  @Test func theKnobMovesToTheSideOfTheTurn() throws {
    func knob(_ yaw: Double) throws -> Int {
      let row = try #require(lines(Self.state(yaw: yaw), 100, 30).first { $0.contains("yaw") })
      return row.distance(from: row.startIndex, to: try #require(row.firstIndex(of: "◆")))
    }
    let (left, middle, right) = (try knob(60), try knob(0), try knob(-60))
    #expect(left < middle && middle < right)
    #expect(middle - left == right - middle)
  }

  @Test func aSilentTrackerHasNoPose() throws {
    var state = Self.state(yaw: 30)
    state.head = .lost("the tracker is silent")
    let caption = PlanView(state: state, symbols: .utf8).caption
    #expect(caption.text == "the tracker is silent" && caption.style == .alarm)
    #expect(!lines(state, 100, 30).contains { $0.contains("turned left") || $0.contains("level") })
  }
}
