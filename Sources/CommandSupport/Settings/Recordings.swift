// SPDX-License-Identifier: Apache-2.0

package import Geometry
package import HeadTracking

/// Returns the orientation (sensor to earth) after each sample.
///
/// - Throws: `CommandFailure.interrupted` after a signal.
package func fused(
  _ recording: InertialRecording, usesMagnetometer: Bool
) throws(CommandFailure) -> [Quaternion] {
  var settings = FusionSettings()
  settings.usesMagnetometer = usesMagnetometer
  var filter = OrientationFilter(settings: settings)
  var progress = Progress(total: recording.samples.count, doing: "fused")
  defer { progress.end() }
  var turns: [Quaternion] = []
  turns.reserveCapacity(recording.samples.count)
  for (index, sample) in recording.samples.enumerated() {
    if index % 4096 == 0 {
      if Signals.received != nil { throw .interrupted }
      progress.advance(to: index)
    }
    filter.update(sample)
    turns.append(filter.orientation)
  }
  return turns
}

/// Reads an inertial recording.
///
/// - Throws: a failure if the file cannot be read or is invalid; `interrupted` after a signal.
package func readRecording(_ path: String) throws(CommandFailure) -> InertialRecording {
  do throws(HeadTrackingError) {
    return try InertialRecording(path: path, monitor: .showing("read"))
  } catch { throw CommandFailure(reading: error) }
}

extension CommandFailure {
  /// Creates a failure from an error that occurred while a file was read.
  package init(reading error: HeadTrackingError) {
    self = error == .interrupted ? .interrupted : CommandFailure(error.description)
  }
}
