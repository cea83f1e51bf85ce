// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// The filters that correct the matrixed signals of a tetrahedral microphone for the distances
/// between its capsules. There is one filter for W, and another for X, Y and Z.
///
/// The response of a capsule at radius r with directivity g(x) = a + (1 - a) x to a plane wave with
/// wave number k is g(x) exp(i k r x), where x is the cosine of the angle between the direction of
/// the capsule and the direction of arrival. The Legendre coefficients of this function are b0 (for
/// W) and 3 b1 (for X, Y, Z). With the spherical Bessel functions j0 and j1 of kr:
///
///     b0 = a j0 + i (1 - a) j1,    b1 = i a j1 + (1 - a) (j0 - 2 j1 / kr)
///
/// The filters compensate for the phases of b0 and b1. They divide by the rms response over all
/// directions, not by |b0| and |b1|, so that a diffuse field keeps its spectrum (Gerzon, "The
/// Design of Precisely Coincident Microphone Arrays for Stereo and Surround Sound", AES 50, 1975;
/// Craven and Gerzon, US patent 4,042,779).
struct TetrahedralEqualizer {
  /// The impulse response for W, with an odd number of taps. The centre tap is at time 0.
  let omnidirectional: [Float]
  /// The impulse response for X, Y and Z, with the same number of taps.
  let directional: [Float]

  static let speedOfSound = 343.0
  /// The frequency, in Hz, above which the gains of the filters stay constant.
  private static let highestFrequency = 18_000.0

  /// Designs the filters. The sample rate is in Hz.
  init(_ microphone: TetrahedralMicrophone, sampleRate: Double) {
    // There are 32 taps or 1.3 ms on each side of the centre tap, whichever is more.
    let half = max(32, Int(sampleRate / 750))
    let bins = 8 * half
    var (omni, direct): ([Response], [Response]) = ([], [])
    let directions = Self.directions(400)
    for bin in 0...bins / 2 {
      let frequency = Double(bin) * sampleRate / Double(bins)
      let limited = min(frequency, Self.highestFrequency)
      let wave = 2 * Double.pi * microphone.radius / Self.speedOfSound
      let levels = Self.levels(microphone, wave * limited, directions)
      let phases = Self.phases(microphone, wave * frequency)
      omni.append(Response(gain: 1 / levels.omni, phase: -phases.omni))
      direct.append(Response(gain: 1 / levels.direct, phase: -phases.direct))
    }
    omnidirectional = Self.impulse(omni, half: half)
    directional = Self.impulse(direct, half: half)
  }

  private struct Response {
    var gain: Double
    var phase: Double
  }

  /// Returns the rms responses of W, and of X, Y and Z together, over all directions.
  private static func levels(
    _ microphone: TetrahedralMicrophone, _ kr: Double, _ directions: [SIMD3<Double>]
  ) -> (omni: Double, direct: Double) {
    let a = microphone.omnidirectionalPart
    var (omni, direct) = (0.0, 0.0)
    for direction in directions {
      var sums = [SIMD2<Double>](repeating: .zero, count: 4)
      // The factors are those of `TetrahedralFilter.matrix`, but without `microphone.gains`.
      for capsule in microphone.capsules {
        let x = (capsule.direction * direction).sum()
        let value = SIMD2(cos(kr * x), sin(kr * x)) * (a + (1 - a) * x)
        let axes = capsule.direction
        sums[0] += value / (4 * a)
        for axis in 0..<3 { sums[axis + 1] += value * axes[axis] * (0.75 / (1 - a)) }
      }
      omni += (sums[0] * sums[0]).sum()
      direct += sums[1...].reduce(0) { $0 + ($1 * $1).sum() }
    }
    let count = Double(directions.count)
    return ((omni / count).squareRoot(), (direct / count).squareRoot())
  }

  /// Returns the phases of b0 and b1, in radians.
  private static func phases(
    _ microphone: TetrahedralMicrophone, _ kr: Double
  ) -> (omni: Double, direct: Double) {
    let a = microphone.omnidirectionalPart
    guard kr > 1e-6 else { return (0, 0) }
    let j0 = sin(kr) / kr
    let j1 = sin(kr) / (kr * kr) - cos(kr) / kr
    // At high kr, the phase jumps. From kr = 2 (W) or 1.5 (X, Y, Z), a straight line through the
    // origin replaces the phase.
    let omni = kr < 2 ? atan2((1 - a) * j1, a * j0) : kr / 2 * phaseSlope(microphone, 2).omni
    let direct =
      kr < 1.5
      ? atan2(a * j1, (1 - a) * (j0 - 2 * j1 / kr))
      : kr / 1.5 * phaseSlope(microphone, 1.5).direct
    return (omni, direct)
  }

  private static func phaseSlope(
    _ microphone: TetrahedralMicrophone, _ kr: Double
  ) -> (omni: Double, direct: Double) {
    phases(microphone, kr * 0.999999)
  }

  /// Returns directions that are almost evenly spread over the sphere (Fibonacci lattice).
  private static func directions(_ count: Int) -> [SIMD3<Double>] {
    let turn = Double.pi * (3 - 5.0.squareRoot())
    return (0..<count).map { i in
      let z = 1 - (2 * Double(i) + 1) / Double(count)
      let level = (1 - z * z).squareRoot()
      return SIMD3(level * cos(turn * Double(i)), level * sin(turn * Double(i)), z)
    }
  }

  /// Returns the windowed impulse response, with `half` taps on each side of the centre tap.
  private static func impulse(_ responses: [Response], half: Int) -> [Float] {
    let bins = 2 * (responses.count - 1)
    return (-half...half).map { n in
      var sum = 0.0
      for (k, response) in responses.enumerated() {
        let isEdge = k == 0 || k == bins / 2
        // The Nyquist component must be real.
        let phase = k == bins / 2 ? 0 : response.phase
        let angle = 2 * Double.pi * Double(k * n) / Double(bins) + phase
        sum += (isEdge ? 1 : 2) * response.gain * cos(angle)
      }
      let window = 0.5 + 0.5 * cos(Double.pi * Double(n) / Double(half + 1))
      return Float(sum / Double(bins) * window)
    }
  }
}
