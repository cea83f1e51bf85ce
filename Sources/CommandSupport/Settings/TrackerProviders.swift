// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import CommandOptions
import Glibc
import HeadTracking
import MIDITracking
import NetworkTracking
import SerialTracking
import UserFiles

/// Returns the providers of trackers that are neither HID devices nor industrial I/O sensors:
/// Bluetooth earphones, Bluetooth LE trackers, glasses on a network interface, MIDI trackers,
/// serial and network trackers with a profile, and the serial port or the capture that the
/// tracker's ID names.
///
/// - Parameters:
///   - tracker: the tracker's ID on the command line; nil if there is none.
///   - tracking: the settings from which the providers take `profiles`, `axes` and `capture`.
/// - Throws: a usage error or a failure if the ID is invalid or names a profile or a capture that
///   cannot be used; a failure if `config.json` is invalid and the command is `play` or `sink`.
func trackerProviders(
  _ command: ParsedCommand, tracker: String?, _ tracking: TrackerSettings
) throws(CommandFailure) -> [any TrackerProvider] {
  var settings = EarphoneTrackers.Settings()
  settings.airPods.takesOver = command[Options.takeOver]
  settings.airPods.stemRecentres = try stemRecentres(command)
  settings.capture = tracking.capture
  let store = EarphoneStore()
  settings.recall = store.recall
  settings.remember = store.remember
  var providers: [any TrackerProvider] = [
    EarphoneTrackers(settings),
    LowEnergyTrackers(
      axes: tracking.axes, profiles: tracking.profiles, capture: tracking.capture,
      wanted: tracker),
    XREALOneTrackers(axes: tracking.axes, capture: tracking.capture),
    MIDITrackers(
      axes: tracking.axes, settings: try midiSettings(command),
      models: tracking.profiles.compactMap(MIDIModel.init),
      request: tracker.flatMap(MIDITrackers.Request.init), capture: tracking.capture),
    SerialTrackers(tracking, named: try namedPort(tracker, tracking.profiles)),
    ProfiledNetworkTrackers(tracking),
  ]
  if let tracker, tracker.hasPrefix(ReplayTracker.prefix) {
    providers.append(try replay(tracker, tracking))
  }
  return providers
}

/// Returns the port that the ID `serial:PATH:PROFILE` or `serial:PATH:BAUD` names; nil without an
/// ID, or if the ID does not begin with `serial:`.
private func namedPort(
  _ tracker: String?, _ profiles: [TrackerProfile]
) throws(CommandFailure) -> (id: String, port: SerialTrackers.NamedPort)? {
  guard let tracker, tracker.hasPrefix(SerialTrackers.prefix) else { return nil }
  guard let (path, name) = SerialTrackers.parts(tracker) else {
    throw .usage(
      "'\(tracker)' does not name a serial tracker; give serial:PATH:PROFILE or serial:PATH:BAUD")
  }
  if let baud = Int(name), TrackerProfile.SerialPort.bauds.contains(baud) {
    return (tracker, SerialTrackers.NamedPort(path: path, profile: .undecoded(baud: baud)))
  }
  let profile = try TrackerProfileFile.named(name, among: profiles)
  guard case .serial = profile.link else {
    throw .usage(
      "the tracker profile '\(name)' is not for a serial port; choose another profile")
  }
  return (tracker, SerialTrackers.NamedPort(path: path, profile: profile))
}

/// Returns the tracker that the ID `replay:FILE` or `replay:FILE:PROFILE` names.
private func replay(
  _ tracker: String, _ tracking: TrackerSettings
) throws(CommandFailure) -> ReplayTracker {
  var path = String(tracker.dropFirst(ReplayTracker.prefix.count))
  var profile: TrackerProfile?
  // A file name may contain a colon. The text after the last colon names a profile only if no file
  // has the complete path.
  if access(path, F_OK) != 0, let colon = path.lastIndex(of: ":"),
    access(String(path[..<colon]), F_OK) == 0
  {
    profile = try TrackerProfileFile.named(
      String(path[path.index(after: colon)...]), among: tracking.profiles)
    path = String(path[..<colon])
  }
  do throws(HeadTrackingError) {
    return try ReplayTracker(
      path, id: tracker, profile: profile, profiles: tracking.profiles, axes: tracking.axes)
  } catch { throw CommandFailure(error.description) }
}

/// Returns whether a press of an AirPod's stem recentres the stage, according to `config.json`.
///
/// - Throws: a failure if the file is invalid and the command is `play` or `sink`. For other
///   commands, the result is then false.
private func stemRecentres(_ command: ParsedCommand) throws(CommandFailure) -> Bool {
  guard let folder = UserFolder.ofThisProcess else { return false }
  do throws(UserFileError) {
    return try ConfigFile.stem(in: folder) == "recentre"
  } catch {
    guard [.play, .sink].contains(command.name) else { return false }
    throw CommandFailure(error.description)
  }
}
