// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// The direction of arrival and the diffuseness of a first-order soundfield.
public struct FieldDirection: Sendable, Equatable {
  /// The azimuth in radians, positive to the left.
  public let azimuth: Double
  /// The elevation in radians, positive upwards.
  public let elevation: Double
  /// From 0 for a single plane wave to 1 for a diffuse field.
  public let diffuseness: Double
}

/// The active intensity and the energy of a soundfield, summed over the frames. In each frame, the
/// intensity consists of the products of W with X, Y and Z [Merimaa and Pulkki, "Spatial impulse
/// response rendering I", JAES 53, 2005]. `IntensityMeter` differentiates the channels first.
public struct FieldIntensity: Sendable, Equatable {
  /// The intensity, as a vector towards the origin of the sound. The axes point forwards (x), to
  /// the left (y) and upwards (z).
  var vector = SIMD3<Double>.zero
  var energy = 0.0

  /// Creates the intensity of silence.
  public init() {}

  public static func += (sum: inout FieldIntensity, other: FieldIntensity) {
    sum.vector += other.vector
    sum.energy += other.energy
  }

  /// The direction of arrival; nil if there is none, as in silence.
  public var direction: FieldDirection? {
    let length = (vector * vector).sum().squareRoot()
    guard energy > 1e-14, length > 0 else { return nil }
    return FieldDirection(
      azimuth: atan2(vector.y, vector.x), elevation: asin(vector.z / length),
      diffuseness: max(0, 1 - length / energy))
  }

  /// Returns the sums and resets them to 0.
  mutating func take() -> FieldIntensity {
    defer { self = FieldIntensity() }
    return self
  }
}

/// Measures the intensity of consecutive blocks of a soundfield.
///
/// The meter differentiates the channels with respect to time, so that low-frequency noise does not
/// dominate.
struct IntensityMeter {
  private var last = SIMD4<Float>.zero

  /// Returns the intensity of the next frames. The planes are in ACN order and SN3D scale.
  mutating func measure(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) -> FieldIntensity {
    var sum = FieldIntensity()
    for i in 0..<frames {
      let now = SIMD4(planes[0][i], planes[3][i], planes[1][i], planes[2][i])
      let change = now - last
      last = now
      let w = Double(change[0])
      let velocity = SIMD3(Double(change[1]), Double(change[2]), Double(change[3]))
      sum.vector += velocity * w
      sum.energy += (w * w + (velocity * velocity).sum()) / 2
    }
    return sum
  }
}

/// The levels of each channel during a number of frames, with full scale 1.
struct ChannelLevels {
  var peaks: [Float]
  /// The sum of the squared samples of each channel.
  var energies: [Double]
  var frames: Int

  var rms: [Float] {
    energies.map { frames > 0 ? Float(($0 / Double(frames)).squareRoot()) : 0 }
  }

  /// Adds the frames of another reading. A reading with another number of channels replaces these
  /// levels.
  static func += (left: inout Self, right: Self) {
    guard left.peaks.count == right.peaks.count else {
      left = right
      return
    }
    for channel in right.peaks.indices {
      left.peaks[channel] = max(left.peaks[channel], right.peaks[channel])
      left.energies[channel] += right.energies[channel]
    }
    left.frames += right.frames
  }
}

struct ChannelMeter {
  private var peaks: [Float]
  private var energies: [Double]
  private var frames = 0

  init(channels: Int) {
    peaks = Array(repeating: 0, count: channels)
    energies = Array(repeating: 0, count: channels)
  }

  mutating func add(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int) {
    for channel in peaks.indices {
      let plane = planes[channel]
      var (peak, energy): (Float, Float) = (0, 0)
      for i in 0..<count {
        peak = max(peak, abs(plane[i]))
        energy += plane[i] * plane[i]
      }
      peaks[channel] = max(peaks[channel], peak)
      energies[channel] += Double(energy)
    }
    frames += count
  }

  /// Returns what was measured since the last call.
  mutating func take() -> ChannelLevels {
    defer {
      for channel in peaks.indices { (peaks[channel], energies[channel]) = (0, 0) }
      frames = 0
    }
    return ChannelLevels(peaks: peaks, energies: energies, frames: frames)
  }
}
