// SPDX-License-Identifier: Apache-2.0

package import Geometry
package import HeadTracking

/// Returns the orientation (sensor to earth) after each sample of a recording.
package func fused(_ recording: InertialRecording, usesMagnetometer: Bool) -> [Quaternion] {
  var settings = FusionSettings()
  settings.usesMagnetometer = usesMagnetometer
  var filter = OrientationFilter(settings: settings)
  return recording.samples.map { sample in
    filter.update(sample)
    return filter.orientation
  }
}

/// Reads a recording of an inertial sensor.
///
/// - Throws: a failure with the reason if the file cannot be read.
package func readRecording(_ path: String) throws(CommandFailure) -> InertialRecording {
  do throws(HeadTrackingError) {
    return try InertialRecording(path: path)
  } catch { throw CommandFailure(error.description) }
}
