// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
package import HeadTracking
import Media
import UserFiles

/// The command with the user's own defaults where the command line says nothing.
package func withUserDefaults(_ command: ParsedCommand) throws(CommandFailure) -> ParsedCommand {
  guard [.play, .render].contains(command.name), let folder = UserFolder.ofThisProcess else {
    return command
  }
  let result: ParsedCommand
  do throws(UserFileError) {
    result = try OptionDefaults(in: folder).applied(to: command)
  } catch { throw CommandFailure(error.description) }
  guard !command.isGiven(Options.layout) else { return result }
  // Only the engine knows all layouts.
  do throws(MediaError) { _ = try LayoutOption(result[Options.layout]) } catch {
    throw CommandFailure(
      "\(folder.configPath): the value '\(result[Options.layout].withoutControls)' of 'layout'"
        + " is no layout; it may be \(LayoutOption.names.joined(separator: ", "))")
  }
  return result
}

/// Finds a tracker's calibration in the user's folder. One that cannot be used is told of, and the
/// tracker is taken as it is.
package let userCalibration: @Sendable (TrackerDescription) -> TrackerCalibration? = { tracker in
  guard let folder = UserFolder.ofThisProcess else { return nil }
  do throws(UserFileError) {
    return try CalibrationFile.read(for: tracker, in: folder)
  } catch {
    printNote("the calibration is not used: \(error)")
    return nil
  }
}
