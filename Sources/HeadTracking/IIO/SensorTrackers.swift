// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The motion sensors of the computer and of sensor hubs, read through the kernel's industrial I/O
/// (IIO) subsystem.
struct SensorTrackers: TrackerProvider {
  let settings: TrackerSettings

  func trackers(detailed: Bool) -> [TrackerDescription] {
    SensorUnit.all(in: settings.sensorFolder).map(TrackerDescription.init)
  }

  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let units = SensorUnit.all(in: settings.sensorFolder)
    guard let unit = units.first(where: { $0.folders[0] == tracker.path }) else {
      throw .cannotOpen(path: tracker.path, reason: errorText(ENODEV))
    }
    return try SensorConnection(unit, axes: settings.axes)
  }
}
