// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The reference frame that the stage is fixed to. It moves with the device while samples from the
/// device arrive, and stands still in the world otherwise.
///
/// If the device's samples return in the same reference frame, the anchor moves to where the device
/// would have carried it, at no more than 0.8 rad/s relative to the device. If they return in a new
/// reference frame, or if the front was set in the meantime, the anchor moves with the device from
/// where the anchor is.
struct StageAnchor: Sendable {
  enum Mode: String, Sendable {
    /// The stage moves with the device.
    case device
    /// The stage stands still in the world.
    case world
  }

  private(set) var mode = Mode.world
  private(set) var anchorToWorld = Quaternion.identity
  /// Angular velocity of the device, in the anchor's frame, in rad/s; zero if the anchor stands
  /// still.
  private(set) var angularVelocity = SIMD3<Double>.zero
  /// The anchor's pose relative to the device.
  private var anchorToDevice = Quaternion.identity
  private var reference: UInt16?
  private var bridge = Fade()

  private static let fastest = 0.8

  /// Makes the anchor level, with its x axis pointing to the front, and attaches it to the device
  /// if the device has fresh samples. The yaw is in radians; times are in CLOCK_MONOTONIC
  /// nanoseconds.
  mutating func set(front yaw: Double, device: DeviceToWorldTimeline, at time: Int64, now: Int64) {
    anchorToWorld = Quaternion(
      w: realtime_cos(yaw / 2), x: 0, y: 0, z: realtime_sin(yaw / 2))
    bridge = Fade()
    take(device, at: time, now: now)
  }

  /// Moves the anchor with the device, or stops the anchor if the device's samples have stopped.
  mutating func follow(_ device: DeviceToWorldTimeline, at time: Int64, now: Int64) {
    guard device.isFresh(now: now), let newest = device.newest,
      let deviceToWorld = device.deviceToWorld(at: time)
    else {
      mode = .world
      angularVelocity = .zero
      return
    }
    guard newest.reference == reference else {
      bridge = Fade()
      return take(device, at: time, now: now)
    }
    let wanted = deviceToWorld * anchorToDevice
    if mode == .world {
      let gap = (wanted.conjugate * anchorToWorld).rotationVector
      let angle = (gap * gap).sum().squareRoot()
      // The peak speed of a minimum-jerk motion is 1.875 times its mean speed.
      bridge = Fade(gap, from: time, over: max(0.3, 1.875 * angle / Self.fastest) * 1e9)
    }
    mode = .device
    anchorToWorld = (wanted * bridge.smooth(time)).normalized
    angularVelocity = anchorToDevice.conjugate.rotate(device.velocity(at: time))
  }

  /// Attaches the anchor to the device at the anchor's present pose. Without fresh samples from the
  /// device, the anchor stands still in the world.
  private mutating func take(_ device: DeviceToWorldTimeline, at time: Int64, now: Int64) {
    guard device.isFresh(now: now), let newest = device.newest,
      let deviceToWorld = device.deviceToWorld(at: time)
    else {
      (mode, reference, angularVelocity) = (.world, nil, .zero)
      return
    }
    anchorToDevice = deviceToWorld.conjugate * anchorToWorld
    reference = newest.reference
    mode = .device
    angularVelocity = anchorToDevice.conjugate.rotate(device.velocity(at: time))
  }
}
