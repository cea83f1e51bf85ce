// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

/// The protocol of the Waves Nx head trackers 1 and 2, which compute their orientation themselves.
///
/// A notification is 10 bytes: a quaternion as four i16 in units of 1/16384, then `00 03`. Sources:
/// mormegil6/opennx, docs/PROTOCOL.md; mgth/nx-tracker-osc; Mach1Studios/m1-orientationmanager.
///
/// The sources differ by half a turn about the axis through the ears, because their authors wore
/// the tracker differently. It is uncertain how a listener wears it. Unless a calibration exists or
/// is being measured, this type therefore chooses the `Form` in which the head is upright.
struct WavesNx: LowEnergyProtocol {
  static let notifications = "0000a015-5761-7665-7341-7564696f4c74"
  private static let control = "0000a011-5761-7665-7341-7564696f4c74"
  private static let service = "0000a010-5761-7665-7341-7564696f4c74"
  private static let hertz: UInt8 = 100

  /// The two ways of wearing the tracker that the sources assume.
  private enum Form {
    case first
    /// `first`, turned by 180 degrees about the axis through the ears.
    case second
  }

  private let isCalibrated: Bool
  private var form: Form?
  /// The time at which the head became upside down according to the present form, in nanoseconds;
  /// nil if the head is upright or `isCalibrated` is true.
  private var upsideDownSince: Int64?
  private var changes = 0
  private var arrivals = EvenArrivals()

  /// The form changes if the head is upside down for longer than this, in nanoseconds.
  private static let patience: Int64 = 3_000_000_000

  static func matches(_ device: BluetoothDevice) -> Bool {
    device.services.contains(service) || device.name.hasPrefix("Nx Tracker")
  }

  /// - Parameter isCalibrated: whether a calibration exists or is being measured. If so, the form
  ///   is always `first`.
  init(isCalibrated: Bool) { self.isCalibrated = isCalibrated }

  var startWrites: [GATTWrite] {
    [GATTWrite(characteristic: Self.control, bytes: [Self.hertz, 0, 0, 0, 1])]
  }

  var stopWrites: [GATTWrite] {
    [GATTWrite(characteristic: Self.control, bytes: [Self.hertz, 0, 0, 0, 0])]
  }

  var keepsReference: Bool { true }
  /// True, because the tracker sleeps when it is still, and stops working after several quick
  /// restarts until its button is pressed.
  var toleratesSilence: Bool { true }

  mutating func decode(_ notification: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard notification.count == 10 else { return nil }
    let r = (0..<4).map { Double(notification.i16(2 * $0)) / 16384 }
    let norm = r.reduce(0) { $0 + $1 * $1 }
    guard abs(norm - 1) < 0.1 else { return nil }
    follow(isUpright: r[2] * r[2] + r[3] * r[3] > 0.5 * norm, arrival)
    let head =
      form == .second
      ? Quaternion(w: r[0], x: -r[2], y: r[3], z: r[1])
      : Quaternion(w: r[3], x: r[1], y: -r[0], z: r[2])
    return [
      .head(
        HeadSample(
          time: arrivals.time(arrival), headToWorld: head.normalized,
          discontinuityCount: changes))
    ]
  }

  /// Chooses the form, and changes it if the head stays upside down according to it.
  ///
  /// - Parameter isUpright: whether the head is upright according to the form `first`.
  private mutating func follow(isUpright: Bool, _ arrival: Int64) {
    let upright: Form = isUpright ? .first : .second
    guard let form, !isCalibrated else {
      self.form = isCalibrated ? .first : upright
      return
    }
    guard form != upright else {
      upsideDownSince = nil
      return
    }
    let since = upsideDownSince ?? arrival
    upsideDownSince = since
    guard arrival - since > Self.patience else { return }
    self.form = upright
    upsideDownSince = nil
    changes += 1
  }
}
