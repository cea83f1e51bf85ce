// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// An open motion sensor of the kernel's industrial I/O (IIO) subsystem, polled at a constant rate.
///
/// The default axes are the kernel's axes for a device with a screen: x right, y towards the upper
/// edge of the screen, z out of the screen.
struct SensorConnection: TrackerConnection {
  let keepsReference = false
  private let gyroscope: SensorTriad
  private let accelerometer: SensorTriad
  private let magnetometer: SensorTriad?
  private let axes: AxisMap
  private let interval: Int64
  private var due: Int64

  init(_ unit: SensorUnit, axes: AxisMap?) throws(HeadTrackingError) {
    guard let gyroscope = unit.triad("anglvel"), let accelerometer = unit.triad("accel") else {
      throw .cannotOpen(path: unit.folders[0], reason: errorText(ENODEV))
    }
    self.gyroscope = gyroscope
    self.accelerometer = accelerometer
    magnetometer = unit.triad("magn")
    self.axes = axes ?? .rightFrontUp
    interval = Int64(1e9 / unit.rate)
    due = monotonic_nanoseconds()
  }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    let now = monotonic_nanoseconds()
    if due > now { usleep(UInt32((due - now) / 1000)) }
    due = max(due + interval, now)
    let before = monotonic_nanoseconds()
    guard let rate = gyroscope.vector else { return .gone }
    let time = (before + monotonic_nanoseconds()) / 2
    guard let force = accelerometer.vector else { return .gone }
    let microtesla = magnetometer?.vector.map { axes.apply($0) * 100 }
    let sample = InertialSample(
      time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force),
      magneticField: microtesla)
    return .readings([.inertial(sample)], rejected: 0)
  }

  mutating func restart() {}
  mutating func close() {}
}
