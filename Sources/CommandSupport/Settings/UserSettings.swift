// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
package import HeadTracking
import Media
import UserFiles

/// Returns the command with the user's defaults for options that are not given. `play`, `render`
/// and `sink` have such defaults.
///
/// - Throws: a failure if `config.json` is invalid. Other commands do not read it here. `sink` does
///   not read it if it only controls a running instance or cleans up.
package func withUserDefaults(_ command: ParsedCommand) throws(CommandFailure) -> ParsedCommand {
  guard [.play, .render, .sink].contains(command.name), let folder = UserFolder.ofThisProcess else {
    return command
  }
  if command.name == .sink { return try withSinkDefaults(command, folder) }
  let result: ParsedCommand
  do throws(UserFileError) {
    result = try OptionDefaults(in: folder).applied(to: command)
  } catch { throw CommandFailure(error.description) }
  guard !command.isGiven(Options.layout) else { return result }
  // `OptionDefaults` cannot check the layout, because its module does not import `Media`.
  do throws(MediaError) { _ = try LayoutOption(result[Options.layout]) } catch {
    throw CommandFailure(
      "\(folder.configPath): 'layout' is '\(result[Options.layout].withoutControls)', but"
        + " must be \(LayoutOption.names.joined(separator: ", "))"
        + " or a list of loudspeakers such as FL+FR+LFE")
  }
  return result
}

private func withSinkDefaults(
  _ command: ParsedCommand, _ folder: UserFolder
) throws(CommandFailure) -> ParsedCommand {
  // An invalid `config.json` must not prevent the user from controlling a running instance or from
  // cleaning up.
  guard !command.controlsSink else { return command }
  do throws(UserFileError) {
    return try OptionDefaults(ofSinkIn: folder).applied(to: command)
  } catch { throw CommandFailure(error.description) }
}

/// Returns a tracker's calibration from the user's folder; nil if there is none. If the calibration
/// cannot be used, prints a note and returns nil.
package let userCalibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { tracker in
  guard let folder = UserFolder.ofThisProcess else { return nil }
  do throws(UserFileError) {
    return try CalibrationFile.read(for: tracker, in: folder)
  } catch {
    printNote("the calibration is not used: \(error)")
    return nil
  }
}
