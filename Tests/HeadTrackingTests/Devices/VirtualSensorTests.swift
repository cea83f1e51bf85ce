// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

/// Tests every driver on the real libhidapi with a virtual device whose motion is known: rate,
/// units, axes and times match the truth. The kernel's own drivers for these devices are absent.
extension VirtualDevices {
  @Suite(.serialized) struct VirtualSensorTests {
    struct Case: Sendable, CustomTestStringConvertible {
      var name: String
      var options: [String] = []
      var hertz: Double
      /// The quantisation error of the numbers, in rad/s and m/s2.
      var rateStep = 0.002
      var forceStep = 0.01
      var hasField = false
      var testDescription: String { ([name] + options).joined(separator: " ") }
    }

    static let raw = [
      Case(name: "dualsense", hertz: 250),
      Case(name: "dualsense", options: ["--bus", "bluetooth"], hertz: 250),
      Case(name: "dualsense-clone", hertz: 250),
      Case(name: "dualshock4", hertz: 250),
      Case(name: "dualshock4", options: ["--bus", "bluetooth"], hertz: 250),
      Case(name: "xreal", hertz: 1000, hasField: true),
      Case(name: "switch-pro", hertz: 200),
      Case(name: "switch-pro", options: ["--bus", "bluetooth"], hertz: 200),
      Case(name: "joycon-left", options: ["--bus", "bluetooth"], hertz: 200),
      Case(name: "joycon-right", options: ["--bus", "bluetooth"], hertz: 200),
      Case(name: "switch-bound", options: ["--bus", "bluetooth"], hertz: 200),
      Case(name: "rift-dk1", hertz: 1000, hasField: true),
      Case(name: "rift-dk2", hertz: 1000, hasField: true),
      Case(name: "rift-cv1", hertz: 1000, hasField: true),
      Case(name: "psvr", hertz: 2000),
      Case(name: "bytes", hertz: 200),
      Case(name: "rayneo", hertz: 500),
      Case(name: "rayneo-4", hertz: 500),
      Case(name: "viture-sensor", hertz: 120),
      Case(name: "rokid", hertz: 500),
      Case(name: "rokid-max2", hertz: 500),
    ]

    @Test(arguments: raw) func rawReadingsMatchTheTrueMotion(_ device: Case) throws {
      try VirtualDevices.retryingOnABusyMachine(device.testDescription) { try problems(of: device) }
    }

    private func problems(of device: Case) throws -> [String] {
      let mock = try VirtualSensor.start([device.name] + device.options, ["raw", "SN-0001", "1.8"])
      #expect(mock.wait(seconds: 60) == 0)
      let samples = mock.output.compactMap(PrintedSample.init).filter(\.isRaw)
      let number = samples.count
      guard number > 200 else { return ["no more than \(mock.output.suffix(5))"] }
      let seconds = samples[number - 1].seconds - samples[0].seconds
      let hertz = Double(number - 1) / seconds
      let rates = samples.map { length($0.vector(0) - WaveTruth.rate($0.seconds)) }
      let forces = samples.map { length($0.vector(3) - WaveTruth.force($0.seconds)) }
      let fields = samples.map { length($0.vector(6) - WaveTruth.field($0.seconds)) }
      let ages = samples.map { Double($0.arrival - $0.time) * 1e-6 }
      print(
        "\(device.testDescription): \(hertz) Hz, rate error p50 \(rates.share(0.5)) p95"
          + " \(rates.share(0.95)) rad/s, force p50 \(forces.share(0.5)) p95 \(forces.share(0.95))"
          + " m/s2, age p50 \(ages.share(0.5)) ms")
      #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
      #expect(device.hasField || samples.allSatisfy { $0.numbers[6].isNaN })
      let checks = [
        "rate of reports": abs(hertz / device.hertz - 1) < 0.06,
        "gyroscope":
          rates.share(0.5) < 0.004 + device.rateStep && rates.share(0.95) < 0.03,
        "accelerometer":
          forces.share(0.5) < 0.02 + device.forceStep && forces.share(0.95) < 0.15,
        "magnetometer": !device.hasField || fields.share(0.95) < 1.5,
      ]
      return checks.filter { !$0.value }.map(\.key)
    }

    @Test(arguments: [
      Case(name: "hdk", hertz: 400), Case(name: "angles", hertz: 100, rateStep: 0.35),
      Case(name: "viture-pose", hertz: 60), Case(name: "viture-angles", hertz: 60),
    ])
    func fusedReadingsMatchTheTrueMotion(_ device: Case) throws {
      try VirtualDevices.retryingOnABusyMachine(device.name) { try fusedProblems(of: device) }
    }

    private func fusedProblems(of device: Case) throws -> [String] {
      let mock = try VirtualSensor.start([device.name] + device.options, ["raw", "auto", "1.8"])
      #expect(mock.wait(seconds: 60) == 0)
      let samples = mock.output.compactMap(PrintedSample.init).filter { !$0.isRaw }
      let number = samples.count
      guard Double(number) > 1.4 * device.hertz else {
        return ["no more than \(mock.output.suffix(5))"]
      }
      let hertz = Double(number - 1) / (samples[number - 1].seconds - samples[0].seconds)
      let angles = samples.map {
        Quaternion.angle(between: $0.head, WaveTruth.head($0.seconds)) * degreesPerRadian
      }
      print(
        "\(device.name): \(hertz) Hz, p50 \(angles.share(0.5)) p95 \(angles.share(0.95)) degrees")
      let rates = samples.map { length($0.vector(4) - WaveTruth.rate($0.seconds)) }
      let checks = [
        "rate of reports": abs(hertz / device.hertz - 1) < 0.06,
        "orientation": angles.share(0.5) < 0.1 + device.rateStep && angles.share(0.95) < 0.8,
        "gyroscope": device.name != "hdk" || rates.share(0.95) < 0.03,
      ]
      return checks.filter { !$0.value }.map(\.key)
    }

    @Test(arguments: raw.filter { !["dualsense-clone", "switch-bound"].contains($0.name) })
    func readingsReturnAfterUnplugAndReplug(_ device: Case) throws {
      // On a busy machine a virtual device may starve, or exit with its program.
      for attempt in 1...3 {
        do {
          if try replug(device) { return }
        } catch {
          guard attempt < 3 else { throw error }
          print("\(device.name): \(error)")
        }
        print("\(device.name): did not recover, trying again")
      }
      Issue.record("\(device.name) did not recover")
    }

    /// Whether reports arrive and are right after the device was unplugged twice.
    private func replug(_ device: Case) throws -> Bool {
      let mock = try VirtualSensor.start([device.name] + device.options, ["raw", "SN-0001", "20"])
      var from = 0
      _ = try mock.line { $0.hasPrefix("raw ") }
      for _ in 0..<2 {
        from = mock.output.count
        mock.send("unplug")
        _ = try mock.line(from: from) { $0.hasPrefix("event lost SN-0001") }
        mock.send("plug")
        _ = try mock.line(from: from) { $0.hasPrefix("event connected SN-0001") }
        let connected = mock.output.count
        _ = try mock.line(from: connected) { $0.hasPrefix("raw ") }
      }
      // The virtual device queues reports for a program that does not run yet; hidraw does not.
      usleep(1_000_000)
      mock.send("quit")
      guard mock.wait(seconds: 60) == 0 else { return false }
      let hasFailed = mock.output.contains { $0.hasPrefix("event failed") || $0.hasPrefix("error") }
      let samples = mock.output[from...].compactMap(PrintedSample.init).suffix(50)
      let rates = samples.map { length($0.vector(0) - WaveTruth.rate($0.seconds)) }
      return !hasFailed && rates.share(0.5) < 0.01
    }
  }
}
