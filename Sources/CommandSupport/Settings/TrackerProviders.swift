// SPDX-License-Identifier: Apache-2.0

package import BluetoothTracking
package import CommandOptions
package import HeadTracking
import MIDITracking
import NetworkTracking
import UserFiles

/// Returns the providers of trackers that are not HID devices: Bluetooth earphones, Bluetooth LE
/// trackers, glasses on a network interface, MIDI trackers and, if the tracker's ID names a capture,
/// that capture.
///
/// - Parameters:
///   - tracker: the tracker's ID on the command line; nil if there is none.
///   - axes: the mounting of the tracker on the head; nil for the usual mounting.
///   - capture: receives the packets of the earphone that is opened; nil for none.
/// - Throws: a failure if the capture is invalid or, for `play` and `sink`, if `config.json` is
///   invalid.
package func trackerProviders(
  _ command: ParsedCommand, tracker: String?, axes: AxisMap? = nil, capture: FrameCapture? = nil
) throws(CommandFailure) -> [any TrackerProvider] {
  var settings = EarphoneTrackers.Settings()
  settings.airPods.takesOver = command[Options.takeOver]
  settings.airPods.stemRecentres = try stemRecentres(command)
  settings.capture = capture
  let store = EarphoneStore()
  settings.recall = store.recall
  settings.remember = store.remember
  var providers: [any TrackerProvider] = [
    EarphoneTrackers(settings), LowEnergyTrackers(axes: axes), XREALOneTrackers(axes: axes),
    MIDITrackers(
      axes: axes, settings: try midiSettings(command),
      request: tracker.flatMap(MIDITrackers.Request.init)),
  ]
  if let tracker, tracker.hasPrefix(ReplayTracker.prefix) {
    let path = String(tracker.dropFirst(ReplayTracker.prefix.count))
    do throws(HeadTrackingError) { providers.append(try ReplayTracker(path)) } catch {
      throw CommandFailure(error.description)
    }
  }
  return providers
}

/// Returns whether `config.json` makes a press of the stem recentre the stage.
///
/// - Throws: a failure if the file is invalid and the command is `play` or `sink`.
private func stemRecentres(_ command: ParsedCommand) throws(CommandFailure) -> Bool {
  guard let folder = UserFolder.ofThisProcess else { return false }
  do throws(UserFileError) {
    return try ConfigFile.stem(in: folder) == "recentre"
  } catch {
    guard [.play, .sink].contains(command.name) else { return false }
    throw CommandFailure(error.description)
  }
}
