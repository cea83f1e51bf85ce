// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct RelativePoseTests {
  private func yaw(_ q: Quaternion) -> Double { YawPitchRoll(q).yaw }

  /// A head and a device, each with its own tracker, in simulated time.
  private struct Pair {
    var head: (Double) -> Quaternion
    var device: (Double) -> Quaternion
    var headRate = 100.0
    var deviceRate = 60.0
    var seconds = 6.0
    var deviceIsLost: (Double) -> Bool = { _ in false }
    var deviceIsNewAt: Double?

    /// Returns the pose relative to the stage every millisecond.
    func run(_ source: HeadPoseSource = HeadPoseSource()) -> [(time: Double, pose: Quaternion)] {
      source.takesDriftBack = false
      source.prediction = .off
      let companion = DeviceSampleSink(for: source)
      var points: [(Double, Quaternion)] = []
      var (heads, devices) = (0.0, 0.0)
      for step in 0..<Int(seconds * 1000) {
        let time = Double(step) * 1e-3
        let now = PoseSimulation.nanoseconds(time)
        while devices / deviceRate <= time {
          let taken = devices / deviceRate
          devices += 1
          if deviceIsLost(taken) { continue }
          if let new = deviceIsNewAt, abs(taken - new) < 0.5 / deviceRate {
            companion.beginReference()
          }
          companion.push(HeadSample(time: now, headToWorld: device(taken)))
        }
        while heads / headRate <= time {
          source.push(HeadSample(time: now, headToWorld: head(heads / headRate)))
          heads += 1
        }
        points.append((time, source.pose(at: now, now: now)))
      }
      return points.map { (time: $0.0, pose: $0.1) }
    }
  }

  /// The highest speed of the pose, in degrees/s.
  private func fastest(_ points: [(time: Double, pose: Quaternion)], from start: Double) -> Double {
    zip(points, points.dropFirst()).filter { $0.0.time > start }.map {
      Quaternion.angle(between: $0.0.pose, $0.1.pose) * degreesPerRadian * 1000
    }.max() ?? 0
  }

  /// Bus and head turn a half circle and more, and bank, while the head also looks around on its
  /// own.
  @Test func stageTurnsWithTheVehicle() {
    let bus = { (time: Double) in
      YawPitchRoll(
        yaw: -170 + 60 * max(0, time - 1), pitch: 8 * sine(0.9 * time),
        roll: 20 * sine(0.7 * time)
      ).quaternion
    }
    let look = { (time: Double) in
      YawPitchRoll(yaw: 25 * sine(1.3 * time), pitch: 20 * sine(2 * time)).quaternion
    }
    var pair = Pair(head: { bus($0) * look($0) }, device: bus)
    let source = HeadPoseSource()
    let points = pair.run(source)
    let worst =
      points.filter { $0.time > 0.5 }.map {
        Quaternion.angle(between: $0.pose, look($0.time)) * degreesPerRadian
      }.max() ?? 99
    print("turning and banking bus, head moves: worst error \(worst) degrees")
    #expect(worst < 1.5)
    #expect(source.status(now: PoseSimulation.nanoseconds(6)).isDeviceRelative)
    // Without a device tracker, the pose of the same head follows the bus.
    pair.deviceIsLost = { _ in true }
    let alone = pair.run()
    #expect(abs(yaw(alone[5500].pose)) > 60)
  }

  /// The mounting of the device does not matter, however askew it is.
  @Test func deviceMountingDoesNotMatter() {
    let mount = YawPitchRoll(yaw: 70, pitch: -60, roll: 15).quaternion
    let bus = { (time: Double) in YawPitchRoll(yaw: 30 * max(0, time - 1)).quaternion }
    let look = { (time: Double) in YawPitchRoll(pitch: 20 * sine(2 * time)).quaternion }
    let points = Pair(head: { bus($0) * look($0) }, device: { bus($0) * mount }).run()
    let worst =
      points.filter { $0.time > 0.5 }.map {
        Quaternion.angle(between: $0.pose, look($0.time)) * degreesPerRadian
      }.max() ?? 99
    #expect(worst < 1)
  }

  /// When the device stops sending, the stage stays where it was. When it returns, the stage moves
  /// to where it would be by then, without a jump.
  @Test func losingAndRegainingTheDeviceIsSmooth() {
    let bus = { (time: Double) in
      YawPitchRoll(yaw: 40 * min(1, max(0, (time - 2) / 1))).quaternion
    }
    var pair = Pair(head: bus, device: bus, seconds: 7)
    pair.deviceIsLost = { (1.5..<4).contains($0) }
    let source = HeadPoseSource()
    let points = pair.run(source)
    // The head turns with the bus, and the stage stays in the room.
    #expect(abs(yaw(points[3900].pose) - 40) < 0.5)
    #expect(abs(yaw(points[6900].pose)) < 0.1)
    let speed = fastest(points, from: 3.9)
    print("device back: the stage turns by 40 degrees at \(speed) deg/s at most")
    #expect(speed < 48)
    // The peak speed of the head itself is 75 degrees/s.
    #expect(fastest(points, from: 1.4) < 78)
  }

  /// A device that was switched on again has a new reference frame: the stage stays.
  @Test func newDeviceReferenceFrameDoesNotTurnTheStage() {
    var pair = Pair(
      head: { _ in YawPitchRoll(yaw: 20).quaternion },
      device: { YawPitchRoll(yaw: $0 < 2.5 ? 0 : 130).quaternion })
    pair.deviceIsLost = { (1.5..<2.5).contains($0) }
    pair.deviceIsNewAt = 2.5
    let points = pair.run()
    #expect(points.filter { $0.time > 0.5 }.allSatisfy { abs(yaw($0.pose)) < 0.01 })
  }

  /// A sensor with raw samples, through the orientation filter: a gyroscope with noise and bias, an
  /// accelerometer with noise.
  private struct Sensor {
    var filter = OrientationFilter()
    var bias: Double
    var noise: SeededGenerator

    mutating func sample(_ time: Double, _ motion: (Double) -> Quaternion) -> HeadSample {
      let (before, here, after) = (motion(time - 2.5e-3), motion(time), motion(time + 2.5e-3))
      var rate = (before.conjugate * after).rotationVector / 5e-3
      rate += noise.vector() * (0.05 / degreesPerRadian) + SIMD3(0, 0, bias / degreesPerRadian)
      let force = here.conjugate.rotate(SIMD3(0, 0, 9.81)) + noise.vector() * 0.02
      let stamp = PoseSimulation.nanoseconds(time)
      filter.update(InertialSample(time: stamp, angularVelocity: rate, specificForce: force))
      return HeadSample(
        time: stamp, headToWorld: filter.orientation, angularVelocity: filter.angularVelocity)
    }
  }

  @Test func stageStaysAlignedWithTheBusFor10Minutes() {
    // Once per minute, the bus turns a half circle in 5.6 s, at most 60 degrees/s, alternately
    // there and back.
    let bus = { (time: Double) -> Quaternion in
      let within = time.truncatingRemainder(dividingBy: 120)
      let there = Fade.minimumJerk((within - 12) / 5.625)
      let back = Fade.minimumJerk((within - 72) / 5.625)
      return YawPitchRoll(yaw: 180 * (there - back)).quaternion
    }
    // The head nods all the time and glances to the side now and then.
    let look = { (time: Double) -> Quaternion in
      let within = time.truncatingRemainder(dividingBy: 30)
      let glance =
        40 * (Fade.minimumJerk((within - 20) / 0.6) - Fade.minimumJerk((within - 23) / 0.6))
      let nod = 20 * sine(2 * .pi * 0.5 * time) * Fade.minimumJerk((time - 3) / 2)
      return YawPitchRoll(yaw: glance, pitch: nod).quaternion
    }
    let source = HeadPoseSource()
    source.prediction = .off
    var head = Sensor(bias: 0.5, noise: SeededGenerator(1))
    var device = Sensor(bias: -0.3, noise: SeededGenerator(2))
    var (early, worst, late) = (0.0, 0.0, 0.0)
    for step in 0..<(200 * 630) {
      let time = Double(step) / 200
      source.pushDevice(device.sample(time, bus))
      source.push(head.sample(time, { bus($0) * look($0) }))
      let now = PoseSimulation.nanoseconds(time)
      let stage = source.pose(at: now, now: now)
      let error = Quaternion.angle(between: stage, look(time)) * degreesPerRadian
      if time < 10 { early = max(early, error) } else { worst = max(worst, error) }
      if time > 600 { late = max(late, abs(yaw(stage * look(time).conjugate))) }
    }
    print(
      "bus: stage error at most \(early) degrees in the first 10 s, \(worst) after;",
      "drift after 10 minutes \(late) degrees")
    #expect(worst <= 2)
    #expect(late <= 1)
  }
}
