// SPDX-License-Identifier: Apache-2.0

/// What the full-screen view of `play` and `demo` shows at one moment.
package struct ListeningState: Sendable {
  /// The head relative to the stage.
  package enum Head: Sendable, Equatable {
    /// The pose in degrees: yaw positive to the left, pitch up, roll with the right ear down.
    case pose(yaw: Double, pitch: Double, roll: Double, isCurrent: Bool)
    /// There is no pose, for this reason.
    case unknown(String)
    /// The stage is fixed to the head.
    case fixed
    /// There is no stage, for this reason.
    case noStage(String)
  }

  /// A sound on the stage. The angles are in degrees: azimuth positive to the left, elevation up.
  package struct Source: Sendable, Equatable {
    package var name: String
    package var azimuth: Double
    package var elevation: Double

    package init(name: String, azimuth: Double, elevation: Double = 0) {
      (self.name, self.azimuth, self.elevation) = (name, azimuth, elevation)
    }
  }

  /// A line of the list on the right: its label and its text.
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

  /// What is played.
  package var title = ""
  /// The state of playback if it is not playing, such as "paused"; otherwise empty.
  package var activity = ""
  /// The volume, such as "volume +1 dB".
  package var volume = ""
  /// The position and, if known, the duration, as text.
  package var time = ""
  /// The played fraction, from 0 to 1; nil if the duration is unknown.
  package var fraction: Double?
  package var head = Head.unknown("no tracker")
  package var sources: [Source] = []
  /// What the stage consists of if it has no single sources, such as "soundfield, order 3".
  package var stageText = ""
  /// The peaks of both ears, left then right, in dBFS.
  package var peaks = (-200.0, -200.0)
  /// The highest recent peaks.
  package var held = (-200.0, -200.0)
  /// The facts, the most important first.
  package var facts: [Fact] = []
  /// The program's messages, the newest last.
  package var messages: [String] = []
  /// What to do about a head that does not face the front; nil if nothing is to be done.
  package var advice: String?
  /// The names of keys with their functions, the most important first.
  package var keys: [String] = []
  /// The list of all keys, if it is to be shown instead of the facts.
  package var help: [String]?

  package init() {}
}
