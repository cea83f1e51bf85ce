// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import MIDITracking
import UserFiles

/// Returns the settings of MIDI trackers in `config.json`.
///
/// - Throws: a failure if the file is invalid and the command is `play` or `sink`. For other
///   commands, the result is then the default settings.
func midiSettings(_ command: ParsedCommand) throws(CommandFailure) -> MIDISettings {
  guard let folder = UserFolder.ofThisProcess else { return MIDISettings() }
  do throws(UserFileError) {
    return MIDISettings(try ConfigFile.midi(in: folder))
  } catch {
    guard [.play, .sink].contains(command.name) else { return MIDISettings() }
    throw CommandFailure(error.description)
  }
}

extension MIDISettings {
  init(_ config: ConfigFile.MIDITrackers) {
    self.init()
    if let rate = config.supperware?.rate { supperware.rateHertz = rate }
    if let compass = config.supperware?.compass.flatMap(Supperware.Settings.Compass.init) {
      supperware.compass = compass
    }
    if let cable = config.supperware?.cable.flatMap(Supperware.Settings.Cable.init) {
      supperware.cable = cable
    }
    if let zeroes = config.supperware?.zero { supperware.zeroes = zeroes }
    supperware.shakeZeroes = config.supperware?.shake
    if let form = config.mrheadtracker?.form.flatMap(MrHeadTracker.Settings.Form.init) {
      mrHeadTracker.form = form
    }
    if let inverse = config.mrheadtracker?.inverse { mrHeadTracker.isInverse = inverse }
  }
}
