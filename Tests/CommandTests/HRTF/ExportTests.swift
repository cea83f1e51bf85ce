// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import TestSupport
import Testing

/// `hrtf export` writes the filters that `render` decodes with.
@Suite struct ExportTests {
  /// An impulse from a direction at a frame.
  private struct Click {
    var direction: SIMD3<Double>
    var frame: Int
    var level: Double
  }

  private static let frames = 2200
  /// A low rate, so that the decoders are designed quickly, and one that differs from the set's.
  private static let rate = 16000

  @Test(arguments: [1, 3, 7])
  func renderMatchesConvolutionWithTheExportedFilters(order: Int) throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let clicks = Self.clicks
    let field = folder.file("field.wav")
    try folder.write(Self.field(clicks, order: order).bytes(), to: "field.wav")
    _ = try Stillstage.succeed([
      "hrtf", "export", sofa, "-o", folder.file("decoder.wav"), "--order", "\(order)",
      "--rate", "\(Self.rate)",
    ])
    let decoder = try FloatWAV(reading: folder.file("decoder.wav"))
    #expect(decoder.rate == Self.rate)
    #expect(decoder.channels.count == 2 * (order + 1) * (order + 1))
    // The head turns abruptly between two clicks in the middle.
    let turn = Self.quaternion(70, -35, 20).map { "\($0)" }.joined(separator: ",")
    let middle = Double(clicks[11].frame + clicks[12].frame) / 2 / Double(Self.rate)
    try folder.write(
      "t,w,x,y,z\n0,1,0,0,0\n\(middle - 1e-5),1,0,0,0\n\(middle + 1e-5),\(turn)\n",
      to: "motion.csv")
    _ = try Stillstage.succeed([
      "render", field, "-o", folder.file("out.wav"), "--hrtf", sofa, "--layout", "hoa",
      "--motion", folder.file("motion.csv"),
    ])
    let rendered = try FloatWAV(reading: folder.file("out.wav"))
    let heard = clicks[..<12] + clicks[12...].map { Self.seenFromHead($0, 70, -35, 20) }
    let expected = Self.decoded(Array(heard), order: order, decoder)
    #expect(rendered.rate == Self.rate)
    #expect(rendered.channels.map(\.count) == expected.map(\.count))
    let residual = Self.residual(rendered.channels, expected)
    #expect(residual <= -100, "order \(order): \(residual) dB")
  }

  @Test func designsDifferButHaveTheSameShape() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("plain", in: folder)
    let designs = ["magls", "ls", "magls-cov"]
    for decoder in designs {
      _ = try Stillstage.succeed([
        "hrtf", "export", sofa, "--decoder", decoder, "--order", "1", "-o",
        folder.file("\(decoder).wav"),
      ])
    }
    let written = try designs.map { try FloatWAV(reading: folder.file("\($0).wav")) }
    for (index, one) in written.enumerated() {
      #expect(one.rate == 48000)
      #expect(one.channels.map(\.count) == written[0].channels.map(\.count))
      for other in written[..<index] {
        let residual = Self.residual(one.channels, other.channels.map { $0.map(Double.init) })
        #expect(residual > -40)
      }
    }
  }

  /// Clicks from 24 directions, enough to detect any wrong channel of a seventh-order field.
  private static let clicks: [Click] = (0..<24).map { k in
    let (azimuth, elevation) = (Double(k) * 2.4, asin(Double(k) / 12 - 0.96))
    return Click(
      direction: SIMD3(
        cos(azimuth) * cos(elevation), sin(azimuth) * cos(elevation), sin(elevation)),
      frame: 5 + 80 * k + (k < 12 ? 0 : 200), level: 0.9 - 0.03 * Double(k))
  }

  private static func field(_ clicks: [Click], order: Int) -> FloatWAV {
    let silence = [Float](repeating: 0, count: frames)
    var channels = [[Float]](repeating: silence, count: (order + 1) * (order + 1))
    for click in clicks {
      let gains = SphericalHarmonics.evaluate(order: order, click.direction)
      for (c, gain) in gains.enumerated() { channels[c][click.frame] = Float(click.level * gain) }
    }
    return FloatWAV(rate: rate, channels: channels)
  }

  /// Returns the click as seen from a head turned by Rz(yaw) Ry(-pitch) Rx(roll), in degrees: the
  /// inverse rotations are applied, the yaw first.
  private static func seenFromHead(
    _ click: Click, _ yaw: Double, _ pitch: Double, _ roll: Double
  ) -> Click {
    let (y, p, r) = (yaw * .pi / 180, pitch * .pi / 180, roll * .pi / 180)
    var v = click.direction
    v = SIMD3(cos(y) * v.x + sin(y) * v.y, cos(y) * v.y - sin(y) * v.x, v.z)
    v = SIMD3(cos(p) * v.x + sin(p) * v.z, v.y, cos(p) * v.z - sin(p) * v.x)
    v = SIMD3(v.x, cos(r) * v.y + sin(r) * v.z, cos(r) * v.z - sin(r) * v.y)
    return Click(direction: v, frame: click.frame, level: click.level)
  }

  /// Returns Rz(yaw) Ry(-pitch) Rx(roll) as w, x, y, z.
  private static func quaternion(_ yaw: Double, _ pitch: Double, _ roll: Double) -> [Double] {
    let half = Double.pi / 360
    let (cy, sy) = (cos(yaw * half), sin(yaw * half))
    let (cp, sp) = (cos(-pitch * half), sin(-pitch * half))
    let (cr, sr) = (cos(roll * half), sin(roll * half))
    return [
      cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr, cy * sp * cr + sy * cp * sr,
      sy * cp * cr - cy * sp * sr,
    ]
  }

  /// Returns the clicks convolved with the filters, in double precision.
  private static func decoded(
    _ clicks: [Click], order: Int, _ decoder: FloatWAV
  ) -> [[Double]] {
    let channels = (order + 1) * (order + 1)
    let taps = decoder.channels[0].count
    return (0..<2).map { ear in
      var output = [Double](repeating: 0, count: frames + taps - 1)
      output.withUnsafeMutableBufferPointer { output in
        for click in clicks {
          let gains = SphericalHarmonics.evaluate(order: order, click.direction)
          for c in 0..<channels {
            decoder.channels[ear * channels + c].withUnsafeBufferPointer { filter in
              let gain = click.level * gains[c]
              for n in 0..<taps { output[click.frame + n] += gain * Double(filter[n]) }
            }
          }
        }
      }
      return output
    }
  }

  /// Returns the energy of the difference relative to that of the expected signal, in dB.
  private static func residual(_ actual: [[Float]], _ expected: [[Double]]) -> Double {
    var (error, energy) = (0.0, 0.0)
    for (a, e) in zip(actual, expected) {
      for (x, y) in zip(a, e) {
        error += (Double(x) - y) * (Double(x) - y)
        energy += y * y
      }
    }
    return energy > 0 ? 10 * log10(max(error, 1e-30) / energy) : .infinity
  }
}
