// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
import Glibc
package import HeadTracking
package import NetworkTracking
import UserFiles

/// Returns the tracker settings from the command line and `config.json`, with the tracker profiles
/// in the user's folder and in the data folder. Invalid profiles are skipped with a note.
///
/// - Parameters:
///   - tracker: the tracker's ID on the command line; nil if there is none.
///   - capture: receives the packets of the tracker that is opened; nil for none.
/// - Throws: a usage error if `--tracker-axes` or the form of the ID is invalid, or if the ID names
///   an unknown profile or a profile of the wrong kind. A failure if the ID names a file that
///   cannot be used. For `play` and `sink`, also a failure if `config.json` is invalid.
package func trackerSettings(
  _ command: ParsedCommand, tracker: String? = nil, capture: FrameCapture? = nil
) throws(CommandFailure) -> TrackerSettings {
  var settings = TrackerSettings()
  settings.isCancelled = { Signals.received != nil }
  if let axes = command[Options.trackerAxes] {
    do throws(HeadTrackingError) { settings.axes = try AxisMap(axes) } catch {
      throw .usage("--tracker-axes: \(error.description)")
    }
  }
  let environment = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
  settings.profiles = TrackerProfileFile.all(
    dataFolder: ProgramFiles.ofThisProcess?.dataFolder(
      option: command[Options.data], environment: environment), note: printNote)
  settings.capture = capture
  settings.providers = try trackerProviders(command, tracker: tracker, settings)
  return settings
}

/// Returns the network tracker with an ID; nil if the ID does not name a network tracker.
///
/// - Throws: a usage error if the ID or the preset is invalid, or if `--tracker-axes` is given for
///   a network tracker.
package func networkTracker(
  _ id: String, _ command: ParsedCommand
) throws(CommandFailure) -> NetworkTracker? {
  let tracker: NetworkTracker?
  do throws(NetworkTrackerError) {
    tracker = try NetworkTracker(id, preset: command[Options.trackerPreset])
  } catch { throw .usage(error.description) }
  if tracker != nil, command.isGiven(Options.trackerAxes) {
    throw .usage(
      "--tracker-axes does not work with network trackers; "
        + "set the convention of the tracker with --tracker-preset")
  }
  return tracker
}

/// A running tracker that feeds a pose source.
package enum LiveTracker {
  case local(TrackerSession)
  case network(NetworkTrackerSession)

  /// Finds and starts the tracker with an ID.
  ///
  /// - Parameters:
  ///   - source: receives the samples.
  ///   - events: called for each event of a local tracker.
  ///   - onSilence: called with a note if no message from a network tracker arrives within 5 s of
  ///     the start, or if no pose arrives within 1 s after the first message without a pose.
  ///   - record: called for each sample, on the tracker's thread.
  ///   - capture: receives the packets of a local tracker; nil for none.
  /// - Throws: a usage error or a failure if the ID or an option is invalid, or if the tracker is
  ///   not found or cannot be used; `interrupted` after a signal.
  package static func start(
    _ id: String, _ command: ParsedCommand, feeding source: HeadPoseSource,
    events: @escaping @Sendable (TrackerEvent) -> Void,
    onSilence: @escaping @Sendable (String) -> Void = { printNote($0) },
    record: (@Sendable (TrackerMeasurement) -> Void)? = nil, capture: FrameCapture? = nil
  ) throws(CommandFailure) -> LiveTracker {
    if let tracker = try networkTracker(id, command) {
      let session = NetworkTrackerSession(
        tracker, feeding: source,
        record: { sample in record?(TrackerMeasurement(head: sample)) }, onSilence: onSilence)
      do throws(NetworkTrackerError) { try session.start() } catch {
        throw CommandFailure(error.description)
      }
      return .network(session)
    }
    let settings = try trackerSettings(command, tracker: id, capture: capture)
    _ = try foundTracker(id, settings)
    let session = TrackerSession(
      .id(id), feeding: source, settings: settings, onEvent: events,
      calibration: userCalibration, record: record)
    // After a signal, `stop` needs time to switch the tracker off.
    SignalDeadline.allow(milliseconds: 1500)
    session.start()
    return .local(session)
  }

  package func stop() {
    switch self {
    case .local(let session): session.stop()
    case .network(let session): session.stop()
    }
  }
}
