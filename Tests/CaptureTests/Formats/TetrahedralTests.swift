// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Capture

/// The A-format conversion against analytic cardioids in plane waves.
struct TetrahedralTests {
  private static let rate = 48_000.0
  private static let speedOfSound = 343.0

  /// The 26 directions of a cube's faces, edges and corners.
  private static let directions: [SIMD3<Double>] = (-1...1).flatMap { x in
    (-1...1).flatMap { y in
      (-1...1).compactMap { z in
        let v = SIMD3(Double(x), Double(y), Double(z))
        return v == .zero ? nil : v / (v * v).sum().squareRoot()
      }
    }
  }

  /// Returns the complex responses of W, Y, Z and X to a plane wave from a direction.
  private func response(
    _ microphone: TetrahedralMicrophone, _ encoder: MicrophoneEncoder,
    _ direction: SIMD3<Double>, frequency: Double, gains: [Double] = [1, 1, 1, 1]
  ) -> [SIMD2<Double>] {
    let frames = 4800
    let block = PlanarBlock(channels: 4, frames: frames)
    let omega = 2 * Double.pi * frequency / Self.rate
    for (channel, capsule) in microphone.capsules.enumerated() {
      let x = (capsule.direction * direction).sum()
      let a = microphone.omnidirectionalPart
      let lead = microphone.radius * x / Self.speedOfSound * Self.rate
      for i in 0..<frames {
        block[channel][i] = Float(
          gains[channel] * (a + (1 - a) * x) * cos(omega * (Double(i) + lead)))
      }
    }
    // The first block of an encoder has no delay and later ones have, but all channels have the
    // same.
    let output = encoder.process(block)
    // Whole periods in the settled part.
    let span = Int((2400 / Self.rate * frequency).rounded(.down) * Self.rate / frequency)
    return (0..<4).map { channel in
      var sum = SIMD2<Double>.zero
      for i in 1000..<1000 + span {
        let phase = omega * Double(i)
        sum += SIMD2(cos(phase), -sin(phase)) * Double(output[channel][i])
      }
      return sum * 2 / Double(span)
    }
  }

  private func decibels(_ power: Double) -> Double { 10 * log10(power) }
  private func power(_ value: SIMD2<Double>) -> Double { (value * value).sum() }

  @Test(arguments: [0.0147, 0.025]) func levelsAreFlat(_ radius: Double) {
    let microphone = TetrahedralMicrophone(radius: radius)
    let encoder = MicrophoneEncoder(.aFormat(microphone), sampleRate: Int(Self.rate))
    // A larger array aliases at lower frequencies.
    let highest = 6000 * 0.0147 / radius
    for frequency in stride(from: 240.0, through: highest, by: 480) {
      var (omni, direct) = (0.0, 0.0)
      for direction in Self.directions {
        let result = response(microphone, encoder, direction, frequency: frequency)
        omni += power(result[0]) / 26
        direct += result[1...].reduce(0) { $0 + power($1) } / 26
      }
      #expect(abs(decibels(omni)) < 0.5, "W at \(frequency) Hz")
      #expect(abs(decibels(direct)) < 0.5, "X, Y, Z at \(frequency) Hz")
    }
  }

  @Test func directionsAreRightBelowTwoKilohertz() {
    let microphone = TetrahedralMicrophone()
    let encoder = MicrophoneEncoder(.aFormat(microphone), sampleRate: Int(Self.rate))
    for frequency in [240.0, 480, 960, 1440, 1920] {
      var squares = 0.0
      var phases = 0.0
      for direction in Self.directions {
        let r = response(microphone, encoder, direction, frequency: frequency)
        // The active intensity: the real part of conj(W) times X, Y, Z.
        let intensity = SIMD3(
          (r[0] * r[3]).sum(), (r[0] * r[1]).sum(), (r[0] * r[2]).sum())
        let length = (intensity * intensity).sum().squareRoot()
        let angle = acos(min(1, (intensity * direction).sum() / length)) * 180 / .pi
        squares += angle * angle / 26
        // Along the direction, the velocity has the phase of W, apart from aliasing.
        let along = r[3] * direction.x + r[1] * direction.y + r[2] * direction.z
        let cross = r[0].x * along.y - r[0].y * along.x
        phases += atan2(cross, (r[0] * along).sum()) * 180 / .pi / 26
      }
      #expect(squares.squareRoot() < 3, "\(frequency) Hz")
      #expect(abs(phases) < 1.5, "\(frequency) Hz")
    }
  }

  @Test func theOrderOfTheCapsulesAndTheirGainsCount() {
    var microphone = TetrahedralMicrophone(
      capsules: [.backLeftDown, .frontLeftUp, .backRightUp, .frontRightDown])
    microphone.gains = [2, 1, 0.5, 1]
    let encoder = MicrophoneEncoder(.aFormat(microphone), sampleRate: Int(Self.rate))
    let left = response(
      microphone, encoder, SIMD3(0, 1, 0), frequency: 480, gains: [0.5, 1, 2, 1])
    #expect(abs(left[0].x - 1) < 0.01 && abs(left[1].x - 1) < 0.01)
    #expect(power(left[2]) < 1e-4 && power(left[3]) < 1e-4)
  }

  @Test func theOutputHasNoDelayAndTheSameLength() throws {
    let encoder = MicrophoneEncoder(.aFormat(TetrahedralMicrophone()), sampleRate: 48_000)
    var sound: [Float] = []
    for start in stride(from: 0, to: 3000, by: 100) {
      let block = PlanarBlock(channels: 4, frames: 100)
      for channel in 0..<4 where start == 1000 { block[channel][0] = 0.5 }
      let output = encoder.process(block)
      sound += UnsafeBufferPointer(start: output[0], count: output.frames)
    }
    let rest = try #require(encoder.finish())
    sound += UnsafeBufferPointer(start: rest[0], count: rest.frames)
    #expect(sound.count == 3000)
    let highest = sound.indices.max { abs(sound[$0]) < abs(sound[$1]) }
    #expect(abs((highest ?? 0) - 1000) <= 1)
  }

  @Test func capsulesMustBeATetrahedron() {
    #expect(Capsule.areTetrahedron([.frontLeftUp, .frontRightDown, .backLeftDown, .backRightUp]))
    #expect(Capsule.areTetrahedron([.frontLeftDown, .frontRightUp, .backLeftUp, .backRightDown]))
    #expect(!Capsule.areTetrahedron([.frontLeftUp, .frontLeftDown, .backLeftDown, .backRightUp]))
    #expect(!Capsule.areTetrahedron([.frontLeftUp, .frontLeftUp, .backLeftDown, .backRightUp]))
    #expect(!Capsule.areTetrahedron([.frontLeftUp]))
  }
}
