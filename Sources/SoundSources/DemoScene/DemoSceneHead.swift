// SPDX-License-Identifier: Apache-2.0

internal import Geometry
public import HeadTracking
internal import Rendering

extension DemoScene {
  /// A head motion for listeners without a tracker. The poses are 10 ms apart and cover the
  /// duration of the scene.
  public static let head: HeadTrajectory = {
    let times = (0...Int(seconds * 100)).map { Double($0) / 100 }
    return HeadTrajectory(times: times, poses: times.map { DemoHead.angles(at: $0).quaternion })
  }()
}

enum DemoHead {
  /// A turn of the head to the orientation `place`. Its times are in seconds from the beginning of
  /// the scene.
  struct Turn {
    let start: Double
    let arrival: Double
    let place: YawPitchRoll
  }

  static let turns = [
    Turn(start: 3, arrival: 4.1, place: YawPitchRoll(yaw: 60)),
    Turn(start: 6, arrival: 8, place: YawPitchRoll(yaw: -60)),
    Turn(start: 9.8, arrival: 11.2, place: YawPitchRoll()),
    Turn(start: 11.8, arrival: 12.6, place: YawPitchRoll(pitch: -25)),
    Turn(start: 12.9, arrival: 14.1, place: YawPitchRoll(pitch: 25)),
    Turn(start: 14.4, arrival: 15.2, place: YawPitchRoll()),
    Turn(start: 15.6, arrival: 16.4, place: YawPitchRoll(roll: 20)),
    Turn(start: 16.7, arrival: 17.9, place: YawPitchRoll(roll: -20)),
    Turn(start: 18.2, arrival: 19, place: YawPitchRoll()),
  ]

  static func angles(at seconds: Double) -> YawPitchRoll {
    var angles = YawPitchRoll()
    for turn in turns where seconds > turn.start {
      let done = minimumJerk((seconds - turn.start) / (turn.arrival - turn.start))
      angles = YawPitchRoll(
        yaw: angles.yaw + done * (turn.place.yaw - angles.yaw),
        pitch: angles.pitch + done * (turn.place.pitch - angles.pitch),
        roll: angles.roll + done * (turn.place.roll - angles.roll))
    }
    return angles
  }

  /// Returns how much of a turn is complete, from 0 to 1, after the fraction `time` of its
  /// duration.
  /// [Minimum-jerk profile: Flash and Hogan, Journal of Neuroscience 5, 1985]
  static func minimumJerk(_ time: Double) -> Double {
    let t = max(0, min(1, time))
    return t * t * t * (10 - 15 * t + 6 * t * t)
  }
}
