// SPDX-License-Identifier: Apache-2.0

extension ConfigFile {
  /// The settings of MIDI trackers in `config.json`; nil where a setting is missing.
  public struct MIDITrackers: Decodable, Sendable, Equatable {
    /// The settings of the Supperware Head Tracker, under `midi.supperware`.
    public struct Supperware: Decodable, Sendable, Equatable {
      /// Samples per second: 50 or 100.
      public var rate: Int?
      /// The correction of the yaw by the magnetometer: `off`, `on`, or `keep` for the tracker's
      /// own setting.
      public var compass: String?
      /// The side of the head on which the cable leaves the tracker: `left`, `right`, or `keep` for
      /// the tracker's own setting.
      public var cable: String?
      /// Whether the tracker, when it is started, sets its own front to the head's direction.
      public var zero: Bool?
      /// Whether shaking the head sets the tracker's own front to the head's direction.
      public var shake: Bool?
    }

    /// The settings of MrHeadTracker, under `midi.mrheadtracker`.
    public struct MrHeadTracker: Decodable, Sendable, Equatable {
      /// The form of the tracker's data: `quaternion`, `angles`, or `auto` to detect it.
      public var form: String?
      /// Whether the tracker sends the inverse rotation.
      public var inverse: Bool?
    }

    public var supperware: Supperware?
    public var mrheadtracker: MrHeadTracker?
  }

  /// Returns the settings of MIDI trackers in a folder's `config.json`; all nil if there are none.
  ///
  /// - Throws: `UserFileError` if the file cannot be read or decoded, or if a value is not
  ///   permitted.
  public static func midi(in folder: UserFolder) throws(UserFileError) -> MIDITrackers {
    let path = folder.configPath
    guard let bytes = try UserFolder.read(path) else { return MIDITrackers() }
    let midi = try JSONFile.decode(MIDIEntry.self, bytes, path: path).midi ?? MIDITrackers()
    func check(_ key: String, _ value: String?, _ words: String...) throws(UserFileError) {
      guard let value, !words.contains(value) else { return }
      throw UserFileError(
        path: path,
        reason: "'midi.\(key)' is '\(value)', but must be "
          + words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")")
    }
    try check("supperware.rate", midi.supperware?.rate.map { "\($0)" }, "50", "100")
    try check("supperware.compass", midi.supperware?.compass, "off", "on", "keep")
    try check("supperware.cable", midi.supperware?.cable, "left", "right", "keep")
    try check("mrheadtracker.form", midi.mrheadtracker?.form, "auto", "quaternion", "angles")
    return midi
  }

  private struct MIDIEntry: Decodable {
    let midi: MIDITrackers?
  }
}
