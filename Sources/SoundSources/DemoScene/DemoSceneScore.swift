// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Rendering

/// The score of the demo scene: eight bars of eight quavers in D major. A quaver lasts 0.3 s.
enum DemoScore {
  /// A note: its start in quavers, its MIDI number (69 is A4 at 440 Hz) and its relative amplitude.
  struct Event {
    let quaver: Double
    let key: Int
    let strength: Double

    var seconds: Double { DemoScore.startSeconds + quaver * DemoScore.quaverSeconds }
    var frequency: Double { 440 * realtime_exp(Double(key - 69) * 0.05776226504666211) }
  }

  static let startSeconds = 0.3
  static let quaverSeconds = 0.3

  /// Returns the notes of a part; none for the ambience.
  static func notes(of part: DemoScenePart, sampleRate: Double) -> [any DemoNote] {
    events(of: part).map { event in
      let onset = Int(event.seconds * sampleRate)
      guard let body = body(of: part) else {
        return DemoPluck(
          onset: onset, seconds: 3, frequency: event.frequency,
          amplitude: Float(0.46 * event.strength), sampleRate: sampleRate)
      }
      return DemoChime(
        onset: onset, frequency: event.frequency, amplitude: event.strength, body: body,
        sampleRate: sampleRate)
    }
  }

  static func events(of part: DemoScenePart) -> [Event] {
    switch part {
    case .melody: melody
    case .percussion: percussion
    case .bell: bell
    case .ambience: []
    }
  }

  /// Returns the linear limit for the sum of a part's notes.
  static func ceiling(of part: DemoScenePart) -> Float {
    switch part {
    case .melody: 0.295
    case .percussion: 0.21
    case .bell, .ambience: 0.15
    }
  }

  private static let melody: [Event] =
    events([
      [(0, 62), (1, 69), (2, 74), (3, 76), (4, 78), (6, 74), (7, 76)],
      [(0, 78), (2, 76), (3, 74), (4, 71), (6, 69), (7, 71)],
      [(0, 74), (1, 71), (2, 67), (3, 71), (4, 74), (6, 76), (7, 74)],
      [(0, 73), (1, 76), (2, 69), (4, 73), (6, 76), (7, 78)],
      [(0, 81), (2, 78), (3, 76), (4, 78), (6, 74), (7, 76)],
      [(0, 78), (1, 76), (2, 74), (3, 71), (4, 74), (6, 71), (7, 69)],
      [(0, 71), (1, 74), (2, 79), (3, 78), (4, 76), (6, 73), (7, 76)],
      [(0, 62), (0.2, 69), (0.4, 74), (0.6, 78)],
    ])

  /// Four strokes in each of the first seven bars: the root, the fifth, the octave and the fifth.
  private static let percussion: [Event] = {
    let roots = [62, 59, 67, 57, 62, 59, 67]
    let strokes = [(quaver: 0, interval: 0), (3, 7), (5, 12), (6, 7)]
    return roots.enumerated().flatMap { bar, root -> [Event] in
      strokes.map { quaver, interval -> Event in
        Event(quaver: Double(8 * bar + quaver), key: root + interval, strength: 0.38)
      }
    }
  }()

  private static let bell: [Event] = [(7, 81), (23, 86), (39, 81), (55, 85), (58, 86)].map {
    Event(quaver: $0, key: $1, strength: 0.07)
  }

  private static func events(_ bars: [[(quaver: Double, key: Int)]]) -> [Event] {
    bars.enumerated().flatMap { bar, notes in
      notes.map { note in
        // The last bar is a soft chord. In the other bars, the first note is accented.
        let strength = bar == bars.count - 1 ? 0.5 : note.quaver == 0 ? 1 : 0.8
        return Event(
          quaver: Double(8 * bar) + note.quaver, key: note.key, strength: strength)
      }
    }
  }

  /// Returns the struck body of a part; nil if the part has none.
  private static func body(of part: DemoScenePart) -> DemoChime.Body? {
    switch part {
    case .percussion: wood
    case .bell: metal
    case .melody, .ambience: nil
    }
  }

  /// A wooden bar whose modes have approximately the frequency ratios of a marimba, 1 : 4 : 10.
  private static let wood = DemoChime.Body(
    modes: [
      .init(ratio: 1, level: 1, decaySeconds: 1.6),
      .init(ratio: 3.98, level: 0.4, decaySeconds: 0.5),
      .init(ratio: 9.9, level: 0.25, decaySeconds: 0.12),
    ], knock: 0.5, seconds: 1.2, riseSeconds: 0.001)

  /// A handbell, in which two modes of almost equal frequency beat slowly.
  private static let metal = DemoChime.Body(
    modes: [
      .init(ratio: 1, level: 0.5, decaySeconds: 3.5),
      .init(ratio: 1.0015, level: 0.4, decaySeconds: 3.5),
      .init(ratio: 2.003, level: 0.3, decaySeconds: 2.5),
      .init(ratio: 3.01, level: 0.45, decaySeconds: 1.8),
      .init(ratio: 4.17, level: 0.15, decaySeconds: 1),
      .init(ratio: 5.43, level: 0.15, decaySeconds: 0.8),
      .init(ratio: 6.8, level: 0.08, decaySeconds: 0.5),
    ], knock: 0.1, seconds: 3.2, riseSeconds: 0.002)
}
