// SPDX-License-Identifier: Apache-2.0

/// The user's settings for the built-in models.
package struct MIDISettings: Sendable, Equatable {
  package var supperware = Supperware.Settings()
  package var mrHeadTracker = MrHeadTracker.Settings()

  package init() {}
}

extension MIDIModel {
  /// Returns the built-in models, each with its name: the MODEL in `midi:PORT:MODEL`.
  static func builtIn(_ settings: MIDISettings) -> [(name: String, model: MIDIModel)] {
    [
      (
        "supperware",
        MIDIModel(
          "Supperware", by: "Supperware", levelsItself: true, portPrefixes: ["Head Tracker"]
        ) { Supperware(settings.supperware, axes: $0.axes) }
      ),
      (
        "mrheadtracker",
        MIDIModel(
          "MrHeadTracker", by: "IEM", levelsItself: true,
          portPrefixes: ["MrHeadTracker", "Teensy Head Tracker"]
        ) { MrHeadTracker(settings.mrHeadTracker, axes: $0.axes) }
      ),
    ]
  }
}
