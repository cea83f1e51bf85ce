// SPDX-License-Identifier: Apache-2.0

internal import Geometry
package import HeadTracking

/// Returns the orientation filter's CPU time per sample in the fastest of three runs, in
/// microseconds.
package func fusionMicroseconds(_ recording: InertialRecording) -> Double {
  var settings = FusionSettings()
  settings.usesMagnetometer = recording.hasMagneticField
  var best = Double.infinity
  var sum = 0.0
  for _ in 0..<3 {
    var filter = OrientationFilter(settings: settings)
    let start = cpuSeconds()
    for sample in recording.samples {
      filter.update(sample)
      sum += filter.orientation.w
    }
    best = min(best, cpuSeconds() - start)
  }
  // Testing the sum keeps the compiler from optimising the work away.
  return sum.isFinite ? best * 1e6 / Double(recording.samples.count) : .nan
}
