// SPDX-License-Identifier: Apache-2.0

/// What the full-screen view of `play` and `demo` shows at one moment.
package struct ListeningState: Sendable {
  /// The head relative to the stage.
  package enum Head: Sendable, Equatable {
    /// The pose in degrees. Yaw is positive to the left, pitch is positive upwards, and roll is
    /// positive with the right ear down.
    case pose(yaw: Double, pitch: Double, roll: Double)
    /// There is no pose yet, for this reason.
    case unknown(String)
    /// There is no pose any more, for this reason.
    case lost(String)
    /// The stage is fixed to the head.
    case fixed
    /// There is no stage, for this reason.
    case noStage(String)
  }

  /// A sound or a loudspeaker on the stage. The angles are in degrees; the azimuth is positive to
  /// the left, and the elevation is positive upwards.
  package struct Source: Sendable, Equatable {
    package var name: String
    package var azimuth: Double
    package var elevation: Double

    package init(name: String, azimuth: Double, elevation: Double = 0) {
      (self.name, self.azimuth, self.elevation) = (name, azimuth, elevation)
    }
  }

  /// A fact about the playback, such as the output, with a label.
  package struct Fact: Sendable, Equatable {
    package var label: String
    package var text: String
    package var style: CellStyle
    /// Whether the fact may share a row with the next fact if there are too few rows.
    package var canJoin: Bool

    package init(
      _ label: String, _ text: String, style: CellStyle = .plain, canJoin: Bool = false
    ) {
      (self.label, self.text, self.style, self.canJoin) = (label, text, style, canJoin)
    }
  }

  /// The name of what is played.
  package var title = ""
  /// Why nothing is audible, such as "paused"; empty during playback and after its end.
  package var activity = ""
  /// The volume, such as "volume +1 dB".
  package var volume = ""
  /// The position and, if known, the duration, as text.
  package var time = ""
  /// The played fraction, from 0 to 1; nil if the duration is unknown.
  package var fraction: Double?
  package var head = Head.unknown("no tracker")
  package var sources: [Source] = []
  /// A description of a stage without individual sources, such as "soundfield, order 3".
  package var stageText = ""
  /// The levels that the bars show, left then right, in dBFS.
  package var peaks = (-200.0, -200.0)
  /// The held peaks, left then right, in dBFS.
  package var held = (-200.0, -200.0)
  /// The facts, the most important first.
  package var facts: [Fact] = []
  /// The program's messages, the newest last.
  package var messages: [String] = []
  /// Advice for a listener who does not face the front; nil if there is none.
  package var advice: String?
  /// The names of keys with their functions, the most important first.
  package var keys: [String] = []
  /// The list of all keys, which replaces the levels, angles and facts; nil if it is hidden.
  package var help: [String]?

  package init() {}
}
