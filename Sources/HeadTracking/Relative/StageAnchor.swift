// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// What the stage stands in: the device as long as its samples come, the world otherwise.
///
/// The anchor is a frame in the world, `anchorToWorld`; the stage is still in it. It is level, and
/// its x is the front, when it is set. It moves with the device, and stays where it was when
/// the device falls silent. A device that returns in the frame it had takes the anchor to where
/// it belongs, no faster than 46 degrees a second (0.8 rad/s); one that begins anew takes it along
/// from where it is. Neither jumps.
struct StageAnchor: Sendable {
  enum Mode: String, Sendable {
    /// The stage moves with the device.
    case device
    /// The stage stands in the room.
    case world
  }

  private(set) var mode = Mode.world
  private(set) var anchorToWorld = Quaternion.identity
  /// rad/s, anchor frame.
  private(set) var angularVelocity = SIMD3<Double>.zero
  /// As set; the device carries the anchor.
  private var anchorToDevice = Quaternion.identity
  private var reference: UInt16?
  private var bridge = Fade()

  private static let fastest = 0.8

  /// Sets the anchor level, with its x where the head looks.
  mutating func set(front yaw: Double, device: DeviceToWorldTimeline, at time: Int64, now: Int64) {
    anchorToWorld = Quaternion(
      w: realtime_cos(yaw / 2), x: 0, y: 0, z: realtime_sin(yaw / 2))
    bridge = Fade()
    take(device, at: time, now: now)
  }

  /// Follows the device to the moment of a head's sample.
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
      // Minimum jerk is 1.875 times faster in its middle than on average.
      bridge = Fade(gap, from: time, over: max(0.3, 1.875 * angle / Self.fastest) * 1e9)
    }
    mode = .device
    anchorToWorld = (wanted * bridge.smooth(time)).normalized
    angularVelocity = anchorToDevice.conjugate.rotate(device.velocity(at: time))
  }

  /// The device carries the anchor from where it is.
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
